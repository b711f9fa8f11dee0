// CPU time per packet of ns-3's queue discs at a steady backlog, one JSON line each: the traffic of
// crates/qdisc/benches/traffic/mod.rs, for benchmarks/queues.py.
//
//     ns3_queues FLOWS BACKLOG [TYPE...]
//
// Packets are recycled and the clock is set forward every 16 packets, so that neither the allocator nor
// the event queue is measured; what the loop itself costs is taken off. There is a figure for each of 20
// stretches.
//
// Debian: apt-get install libns3-dev; g++ -O2 -std=c++17 (from 3.43 on c++20) ns3_queues.cc -lns3-traffic-control -lns3-network -lns3-core

#include <ns3/core-module.h>
#include <ns3/network-module.h>
#include <ns3/traffic-control-module.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <random>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr int STRETCHES = 20;
constexpr int PACKETS = 200000;
constexpr int CLOCK_STEP = 16;
constexpr int TRIES = 4;
constexpr uint32_t PAYLOAD = 1500;
const Time TRANSMISSION = MicroSeconds(12); // 1500 bytes at 1 Gb/s

/// A packet of a flow, known by number: nothing is parsed.
class Item : public QueueDiscItem
{
  public:
    Item()
        : QueueDiscItem(Create<Packet>(PAYLOAD), Address(), 0x0800)
    {
    }

    void AddHeader() override
    {
    }

    bool Mark() override
    {
        return flow % 4 == 0;
    }

    uint32_t Hash(uint32_t perturbation) const override
    {
        uint64_t hash = (flow ^ perturbation) * 0x9e3779b97f4a7c15ULL;
        return static_cast<uint32_t>(hash >> 32);
    }

    uint32_t flow = 0;
};

/// Keeps `backlog` packets in a queue; without a queue, the cost of doing so.
struct Steady
{
    Steady(Ptr<QueueDisc> queue, uint32_t flows, uint32_t backlog)
        : queue(queue),
          backlog(backlog)
    {
        std::mt19937 draw(1);
        std::uniform_int_distribution<uint32_t> flow(0, flows - 1);
        drawn.resize(1 << 16);
        for (auto& number : drawn)
        {
            number = flow(draw);
        }
    }

    Ptr<Item> Next()
    {
        if (spare.empty())
        {
            spare.push_back(Create<Item>());
        }
        auto item = spare.back();
        spare.pop_back();
        item->flow = drawn[sent++ % drawn.size()];
        return item;
    }

    void Turn()
    {
        if (++turns % CLOCK_STEP == 0)
        {
            Simulator::Stop(TRANSMISSION * CLOCK_STEP);
            Simulator::Run();
        }
        if (!queue)
        {
            spare.push_back(Next());
            return;
        }
        for (int n = 0; n < TRIES; n++)
        {
            queue->Enqueue(Next());
            if (queue->GetNPackets() > backlog)
            {
                auto item = queue->Dequeue();
                if (item)
                {
                    spare.push_back(StaticCast<Item>(item));
                }
                return;
            }
        }
    }

    /// CPU time per packet of each stretch, ns.
    std::vector<double> Measure()
    {
        std::vector<double> figures;
        for (int stretch = 0; stretch < STRETCHES; stretch++)
        {
            auto start = Cpu();
            for (int n = 0; n < PACKETS; n++)
            {
                Turn();
            }
            figures.push_back((Cpu() - start) / PACKETS);
        }
        return figures;
    }

    static double Cpu()
    {
        timespec now;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return now.tv_sec * 1e9 + now.tv_nsec;
    }

    Ptr<QueueDisc> queue;
    uint32_t backlog;
    std::vector<uint32_t> drawn;
    std::vector<Ptr<Item>> spare;
    size_t sent = 0;
    uint64_t turns = 0;
};

template <typename Fq>
void
SetQuantum(Ptr<QueueDisc> queue)
{
    if (auto fq = DynamicCast<Fq>(queue))
    {
        fq->SetQuantum(1514);
    }
}

Ptr<QueueDisc>
Make(const std::string& type, uint32_t backlog)
{
    ObjectFactory factory("ns3::" + type + "QueueDisc");
    // Four times the backlog, so that RED, whose thresholds are a 12th and a quarter of it, keeps it.
    factory.Set("MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, 4 * backlog)));
    if (type == "Red")
    {
        factory.Set("MinTh", DoubleValue(4 * backlog / 12.0));
        factory.Set("MaxTh", DoubleValue(4 * backlog / 4.0));
        factory.Set("LinkBandwidth", DataRateValue(DataRate("1Gbps")));
        factory.Set("MeanPktSize", UintegerValue(PAYLOAD));
    }
    if (type == "FqCobalt")
    {
        // As in CAKE.
        factory.Set("EnableSetAssociativeHash", BooleanValue(true));
    }
    auto queue = factory.Create<QueueDisc>();
    // There is no device whose MTU could be the quantum.
    SetQuantum<FqCoDelQueueDisc>(queue);
    SetQuantum<FqPieQueueDisc>(queue);
    SetQuantum<FqCobaltQueueDisc>(queue);
    queue->Initialize();
    return queue;
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc < 3)
    {
        std::cerr << "ns3_queues FLOWS BACKLOG [TYPE...]\n";
        return 2;
    }
    const auto flows = static_cast<uint32_t>(std::stoul(argv[1]));
    const auto backlog = static_cast<uint32_t>(std::stoul(argv[2]));
    std::vector<std::string> types(argv + 3, argv + argc);
    if (types.empty())
    {
        types = {"Fifo", "Red", "CoDel", "Pie", "Cobalt", "FqCoDel", "FqPie", "FqCobalt"};
    }
    Steady loop(nullptr, flows, backlog);
    const auto idle = loop.Measure();
    const double idleNs = *std::min_element(idle.begin(), idle.end());
    for (const auto& type : types)
    {
        Steady steady(Make(type, backlog), flows, backlog);
        for (uint32_t n = 0; n < backlog + flows; n++)
        {
            steady.Turn();
        }
        std::cout << "{\"id\": \"" << type << "\", \"ns\": [";
        const char* separator = "";
        for (double ns : steady.Measure())
        {
            std::cout << separator << ns - idleNs;
            separator = ", ";
        }
        std::cout << "], \"waiting\": " << steady.queue->GetNPackets() << ", \"loop_ns\": " << idleNs << "}\n";
    }
    return 0;
}
