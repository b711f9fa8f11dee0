// The wired dumbbell with TCP transfers in ns-3 (3.37 to 3.48), for benchmarks/performance.py; prints one JSON line.
//
//     ns3_wired FLOWS.csv SECONDS fifo|fq_codel
//
// FLOWS: flow_id,start_s,src,dst,size_packets with src 1 to 5 and dst 8 to 12, as ns2_wired.tcl reads it.
// Five hosts on each side at 100 Mb/s and 1 ms, 10 Mb/s and 1 ms between two routers. What scenario wired says with
// the transport ns-3.37, said to ns-3:
//
// - fifo: 300 packets in the queue of the bottleneck's device, no queue disc; the packet in transmission is outside.
// - fq_codel: FqCoDelQueueDisc of 300 packets with its defaults, over a device queue of one packet.
// - TCP as in ns3_transfers.h.
//
// Debian: apt-get install libns3-dev; g++ -O2 -std=c++17 (from 3.43 on c++20) ns3_wired.cc -lns3-point-to-point -lns3-internet
// -lns3-traffic-control -lns3-network -lns3-core

#include "ns3_transfers.h"

#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t HOSTS = 5; // on each side
constexpr uint32_t FIRST_SENDER = 1;
constexpr uint32_t FIRST_RECEIVER = 8;
const char* const BUFFER = "300p";

/// A row of the flow list.
struct Listed : Transfer
{
    uint32_t sender = 0;
    uint32_t receiver = 0;
};

std::deque<Listed>
ReadList(const std::string& path, double seconds)
{
    std::ifstream file(path);
    std::deque<Listed> transfers;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line))
    {
        std::replace(line.begin(), line.end(), ',', ' ');
        std::istringstream fields(line);
        std::string id;
        Listed transfer;
        fields >> id >> transfer.startS >> transfer.sender >> transfer.receiver >> transfer.bytes;
        transfer.sender -= FIRST_SENDER;
        transfer.receiver -= FIRST_RECEIVER;
        if (!fields || transfer.sender >= HOSTS || transfer.receiver >= HOSTS)
        {
            throw std::runtime_error(path + ": bad row: " + line);
        }
        transfer.bytes *= SEGMENT;
        transfer.port = static_cast<uint16_t>(1024 + transfers.size() % PORTS);
        if (transfer.startS < seconds)
        {
            transfers.push_back(transfer);
        }
    }
    return transfers;
}

uint64_t g_dropped = 0;

void
PacketDropped(Ptr<const Packet>)
{
    g_dropped++;
}

void
ItemDropped(Ptr<const QueueDiscItem>)
{
    g_dropped++;
}

/// Hosts, routers and the queue at the bottleneck.
struct Network
{
    explicit Network(bool fair)
        : senders(HOSTS),
          receivers(HOSTS),
          routers(2)
    {
        InternetStackHelper stack;
        stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
        stack.SetIpv6StackInstall(false);
        stack.Install(NodeContainer(senders, receivers, routers));
        Bottleneck(fair);
        Access(senders, routers.Get(0), "10.2.0.0");
        addresses = Access(receivers, routers.Get(1), "10.3.0.0");
    }

    void Bottleneck(bool fair)
    {
        PointToPointHelper wire;
        wire.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
        wire.SetChannelAttribute("Delay", StringValue("1ms"));
        wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(fair ? "1p" : BUFFER));
        auto devices = wire.Install(routers);
        auto ends = Ipv4AddressHelper("10.1.0.0", "255.255.255.0").Assign(devices);
        DefaultRoute(routers.Get(0), ends.GetAddress(1));
        DefaultRoute(routers.Get(1), ends.GetAddress(0));
        TrafficControlHelper().Uninstall(devices);
        if (fair)
        {
            TrafficControlHelper control;
            control.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", QueueSizeValue(QueueSize(BUFFER)));
            control.Install(devices.Get(0)).Get(0)->TraceConnectWithoutContext("Drop", MakeCallback(&ItemDropped));
            return;
        }
        routers.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop",
                                                                                    MakeCallback(&PacketDropped));
        DynamicCast<PointToPointNetDevice>(devices.Get(0))
            ->GetQueue()
            ->TraceConnectWithoutContext("Drop", MakeCallback(&PacketDropped));
    }

    static std::vector<Ipv4Address> Access(NodeContainer hosts, Ptr<Node> router, const char* first)
    {
        PointToPointHelper wire;
        wire.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
        wire.SetChannelAttribute("Delay", StringValue("1ms"));
        wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
        Ipv4AddressHelper subnets(first, "255.255.255.0");
        std::vector<Ipv4Address> assigned;
        for (uint32_t n = 0; n < HOSTS; n++)
        {
            auto devices = wire.Install(hosts.Get(n), router);
            auto ends = subnets.Assign(devices);
            subnets.NewNetwork();
            TrafficControlHelper().Uninstall(devices);
            DefaultRoute(hosts.Get(n), ends.GetAddress(1));
            assigned.push_back(ends.GetAddress(0));
        }
        return assigned;
    }

    NodeContainer senders;
    NodeContainer receivers;
    NodeContainer routers;
    std::vector<Ipv4Address> addresses; // of the receivers
};

} // namespace

int
main(int argc, char* argv[])
{
    const std::string discipline = argc == 4 ? argv[3] : "";
    if (discipline != "fifo" && discipline != "fq_codel")
    {
        std::cerr << "ns3_wired FLOWS.csv SECONDS fifo|fq_codel\n";
        return 2;
    }
    const double seconds = std::stod(argv[2]);
    auto transfers = ReadList(argv[1], seconds);
    TcpDefaults();
    Network network(discipline == "fq_codel");
    for (auto& transfer : transfers)
    {
        transfer.from = network.senders.Get(transfer.sender);
        transfer.to = network.receivers.Get(transfer.receiver);
        transfer.address = network.addresses[transfer.receiver];
        Simulator::Schedule(Seconds(transfer.startS), &Transfer::Start, static_cast<Transfer*>(&transfer));
    }
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    uint64_t finished = 0;
    double total = 0;
    for (const auto& transfer : transfers)
    {
        if (transfer.read == transfer.bytes)
        {
            finished++;
            total += transfer.readS - transfer.startS;
        }
    }
    std::cout << "{\"finished\": " << finished << ", \"mean_s\": " << total / std::max<uint64_t>(finished, 1)
              << ", \"drops\": " << g_dropped << ", \"events\": " << Simulator::GetEventCount() << "}\n";
    Simulator::Destroy();
    return 0;
}
