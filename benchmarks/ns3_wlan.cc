// A cell of 802.11a with TCP flows in ns-3 (3.37 to 3.48), for benchmarks/wlan.py; prints one JSON line.
//
//     ns3_wlan FLOWS.csv BUFFER SECONDS WARM_UP [fifo|pefd SEED]
//
// FLOWS: flow_id,direction,start_s,station,server,size_packets with direction d or u and size 0 for flows without end.
// Ten servers, a router, an access point whose queue holds BUFFER packets, ten stations; 1 Gb/s and 1 ms on each wire.
// With BUFFER as 45000B it holds bytes of IP in a queue disc, FIFO or PEFD (ns3_pefd.h), before a MAC queue of one frame.
// What scenario wlan-ns3 says, said to ns-3:
//
// - Queue discs are off, and the queue of the access point's MAC is the buffer; the frame on the air is part of it.
// - Frames do not age there (500 ms by default).
// - TCP as in ns3_transfers.h.
// - ARP is answered in advance: NeighborCacheHelper needs IPv6.
//
// Stations associate in the first second: flows start a second after what the list says, and the run lasts as much longer.
//
// Debian: apt-get install libns3-dev; g++ -O2 -std=c++17 (from 3.43 on c++20) ns3_wlan.cc -lns3-wifi -lns3-mobility -lns3-propagation
// -lns3-point-to-point -lns3-internet -lns3-traffic-control -lns3-network -lns3-core

#include "ns3_pefd.h"
#include "ns3_transfers.h"

#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/mobility-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/propagation-module.h>
#include <ns3/traffic-control-module.h>
#include <ns3/wifi-module.h>

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

constexpr uint32_t HOSTS = 10; // stations, and servers
const Time ASSOCIATION = Seconds(1);

/// A row of the flow list.
struct Listed : Transfer
{
    bool down = true;
    uint32_t station = 0;
    uint32_t server = 0;
};

std::deque<Listed>
ReadList(const std::string& path)
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
        std::string direction;
        Listed transfer;
        fields >> id >> direction >> transfer.startS >> transfer.station >> transfer.server >> transfer.bytes;
        if (!fields || transfer.station >= HOSTS || transfer.server >= HOSTS)
        {
            throw std::runtime_error(path + ": bad row: " + line);
        }
        transfer.down = direction == "d";
        transfer.bytes *= SEGMENT;
        transfer.port = static_cast<uint16_t>(1024 + transfers.size() % PORTS);
        transfers.push_back(transfer);
    }
    return transfers;
}

void
Defaults()
{
    TcpDefaults();
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("2000p")));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
}

/// The stations, the access point and what is behind it.
struct Network
{
    Network(const QueueSize& buffer, const std::string& discipline)
        : accessPoint(1),
          router(1),
          stations(HOSTS),
          servers(HOSTS)
    {
        Cell();
        InternetStackHelper stack;
        stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
        stack.SetIpv6StackInstall(false);
        stack.Install(NodeContainer(accessPoint, router, stations, servers));
        Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.0");
        accessPointAddress = addresses.Assign(accessPointDevice);
        stationAddresses = addresses.Assign(stationDevices);
        Wires();
        for (uint32_t n = 0; n < HOSTS; n++)
        {
            DefaultRoute(stations.Get(n), accessPointAddress.GetAddress(0));
            Known(accessPointAddress.Get(0), stationAddresses.GetAddress(n), stationDevices.Get(n));
            Known(stationAddresses.Get(n), accessPointAddress.GetAddress(0), accessPointDevice.Get(0));
        }
        TrafficControlHelper().Uninstall(NetDeviceContainer(accessPointDevice, stationDevices));
        TrafficControlHelper().Uninstall(wires);
        auto mac = DynamicCast<WifiNetDevice>(accessPointDevice.Get(0))->GetMac();
        const bool bytes = buffer.GetUnit() == QueueSizeUnit::BYTES;
        mac->GetTxop()->GetWifiMacQueue()->SetMaxSize(bytes ? QueueSize("1p") : buffer);
        if (bytes)
        {
            TrafficControlHelper before;
            before.SetRootQueueDisc(discipline == "pefd" ? "ns3::MayflyPefdQueueDisc" : "ns3::FifoQueueDisc",
                                    "MaxSize",
                                    QueueSizeValue(buffer));
            before.Install(accessPointDevice);
        }
    }

    void Cell()
    {
        auto channel = CreateObject<YansWifiChannel>();
        auto loss = CreateObject<MatrixPropagationLossModel>();
        loss->SetDefaultLoss(60); // dB: everybody hears everybody equally well
        channel->SetPropagationLossModel(loss);
        channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
        YansWifiPhyHelper phy;
        phy.SetChannel(channel);
        WifiHelper wifi;
        wifi.SetStandard(WIFI_STANDARD_80211a);
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("OfdmRate54Mbps"));
        WifiMacHelper mac;
        mac.SetType("ns3::ApWifiMac", "QosSupported", BooleanValue(false));
        accessPointDevice = wifi.Install(phy, mac, accessPoint);
        mac.SetType("ns3::StaWifiMac", "QosSupported", BooleanValue(false));
        stationDevices = wifi.Install(phy, mac, stations);
        MobilityHelper places;
        places.SetPositionAllocator("ns3::GridPositionAllocator"); // 1 m apart
        places.Install(NodeContainer(accessPoint, stations));
    }

    void Wires()
    {
        PointToPointHelper wire;
        wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        wire.SetChannelAttribute("Delay", StringValue("1ms"));
        wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
        Ipv4AddressHelper addresses("10.2.0.0", "255.255.255.0");
        auto trunk = wire.Install(router.Get(0), accessPoint.Get(0));
        auto ends = addresses.Assign(trunk);
        wires.Add(trunk);
        DefaultRoute(accessPoint.Get(0), ends.GetAddress(0));
        Routes(router.Get(0))->AddNetworkRouteTo("10.1.0.0", "255.255.255.0", ends.GetAddress(1), ends.Get(0).second);
        for (uint32_t n = 0; n < HOSTS; n++)
        {
            auto devices = wire.Install(servers.Get(n), router.Get(0));
            addresses.NewNetwork();
            auto pair = addresses.Assign(devices);
            wires.Add(devices);
            serverAddresses.push_back(pair.GetAddress(0));
            DefaultRoute(servers.Get(n), pair.GetAddress(1));
        }
    }

    /// Enters the hardware address of a neighbour where it is asked for.
    static void Known(std::pair<Ptr<Ipv4>, uint32_t> where, Ipv4Address address, Ptr<NetDevice> device)
    {
        const auto& [ipv4, index] = where;
        auto entry = DynamicCast<Ipv4L3Protocol>(ipv4)->GetInterface(index)->GetArpCache()->Add(address);
        entry->SetMacAddress(device->GetAddress());
        entry->MarkPermanent();
    }

    NodeContainer accessPoint;
    NodeContainer router;
    NodeContainer stations;
    NodeContainer servers;
    NetDeviceContainer accessPointDevice;
    NetDeviceContainer stationDevices;
    NetDeviceContainer wires;
    Ipv4InterfaceContainer accessPointAddress;
    Ipv4InterfaceContainer stationAddresses;
    std::vector<Ipv4Address> serverAddresses;
};

uint64_t g_dropped = 0;

void
Dropped(Ptr<const Packet>)
{
    g_dropped++;
}

} // namespace

int
main(int argc, char* argv[])
{
    const std::string discipline = argc == 7 ? argv[5] : "fifo";
    if ((argc != 5 && argc != 7) || (discipline != "fifo" && discipline != "pefd"))
    {
        std::cerr << "ns3_wlan FLOWS.csv BUFFER SECONDS WARM_UP [fifo|pefd SEED]\n";
        return 2;
    }
    if (argc == 7)
    {
        RngSeedManager::SetRun(std::stoul(argv[6]));
    }
    const std::string buffer = argv[2];
    const double seconds = std::stod(argv[3]);
    const double warmUp = std::stod(argv[4]);
    auto transfers = ReadList(argv[1]);
    Defaults();
    Network network(QueueSize(buffer.back() == 'B' ? buffer : buffer + "p"), discipline);
    network.accessPoint.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop",
                                                                                           MakeCallback(&Dropped));
    for (auto& transfer : transfers)
    {
        auto station = network.stations.Get(transfer.station);
        auto server = network.servers.Get(transfer.server);
        transfer.from = transfer.down ? server : station;
        transfer.to = transfer.down ? station : server;
        transfer.address = transfer.down ? network.stationAddresses.GetAddress(transfer.station)
                                         : network.serverAddresses[transfer.server];
        Simulator::Schedule(ASSOCIATION + Seconds(transfer.startS), &Transfer::Start, static_cast<Transfer*>(&transfer));
    }
    Simulator::Schedule(ASSOCIATION + Seconds(warmUp), +[](std::deque<Listed>* all) {
        for (auto& transfer : *all)
        {
            transfer.readBefore = transfer.read;
        }
    }, &transfers);
    Simulator::Stop(ASSOCIATION + Seconds(seconds));
    Simulator::Run();
    double mbps[] = {0, 0};
    uint64_t finished = 0;
    for (const auto& transfer : transfers)
    {
        mbps[transfer.down] += (transfer.read - transfer.readBefore) * 8e-6 / (seconds - warmUp);
        finished += transfer.bytes > 0 && transfer.read == transfer.bytes;
    }
    std::cout << "{\"up_mbps\": " << mbps[0] << ", \"down_mbps\": " << mbps[1] << ", \"finished\": " << finished
              << ", \"drops\": " << g_dropped << ", \"events\": " << Simulator::GetEventCount() << "}\n";
    Simulator::Destroy();
    return 0;
}
