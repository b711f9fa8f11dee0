// PEFD (Chen 2012, 6.2.1) as a queue disc of ns-3, with a buffer in bytes; docs of the discipline `pefd` say what it does.
//
// A flow is in the table while a packet of it waits. The first packets of its stay go into the high band, the others into the low one; the high
// band goes first. When the buffer is full, the last packet of the low band is dropped, of the high one when none is low.

#pragma once

#include <ns3/core-module.h>
#include <ns3/network-module.h>
#include <ns3/traffic-control-module.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <map>

namespace ns3
{

/// A band that can lose its last packet.
class Band : public Queue<QueueDiscItem>
{
  public:
    bool Enqueue(Ptr<QueueDiscItem> item) override
    {
        return DoEnqueue(GetContainer().end(), item);
    }

    Ptr<QueueDiscItem> Dequeue() override
    {
        return DoDequeue(GetContainer().begin());
    }

    Ptr<QueueDiscItem> Remove() override
    {
        return DoRemove(GetContainer().begin());
    }

    Ptr<const QueueDiscItem> Peek() const override
    {
        return DoPeek(GetContainer().begin());
    }

    Ptr<QueueDiscItem> RemoveLast()
    {
        return DoRemove(std::prev(GetContainer().end()));
    }
};

class PefdQueueDisc : public QueueDisc
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::MayflyPefdQueueDisc")
                                .SetParent<QueueDisc>()
                                .AddConstructor<PefdQueueDisc>()
                                .AddAttribute("MaxSize",
                                              "The buffer",
                                              QueueSizeValue(QueueSize("45000B")),
                                              MakeQueueSizeAccessor(&QueueDisc::SetMaxSize, &QueueDisc::GetMaxSize),
                                              MakeQueueSizeChecker());
        return tid;
    }

    PefdQueueDisc()
        : QueueDisc(QueueDiscSizePolicy::MULTIPLE_QUEUES, QueueSizeUnit::BYTES)
    {
    }

  private:
    static constexpr uint32_t THRESHOLD = 20; // packets (4.3.1)
    static constexpr std::size_t HIGH = 0;
    static constexpr std::size_t LOW = 1;

    struct Entry
    {
        uint32_t waiting = 0;
        uint32_t entered = 0;
    };

    bool DoEnqueue(Ptr<QueueDiscItem> item) override
    {
        auto& entry = m_flows[item->Hash()];
        const std::size_t place = entry.entered < THRESHOLD ? HIGH : LOW;
        entry.entered++;
        entry.waiting++;
        GetInternalQueue(place)->Enqueue(item);
        bool kept = true;
        while (GetCurrentSize() > GetMaxSize())
        {
            auto victim = m_bands[m_bands[LOW]->IsEmpty() ? HIGH : LOW]->RemoveLast();
            kept = kept && victim != item;
            Left(victim, true);
        }
        return kept;
    }

    Ptr<QueueDiscItem> DoDequeue() override
    {
        for (const auto& band : m_bands)
        {
            if (auto item = band->Dequeue())
            {
                Left(item, false);
                return item;
            }
        }
        return nullptr;
    }

    void Left(Ptr<QueueDiscItem> item, bool dropped)
    {
        auto found = m_flows.find(item->Hash());
        found->second.entered -= dropped;
        if (--found->second.waiting == 0)
        {
            m_flows.erase(found);
        }
    }

    bool CheckConfig() override
    {
        for (auto& band : m_bands)
        {
            band = CreateObject<Band>();
            band->SetMaxSize(QueueSize("1000000p"));
            AddInternalQueue(band);
        }
        return true;
    }

    void InitializeParams() override
    {
    }

    std::array<Ptr<Band>, 2> m_bands;
    std::map<uint32_t, Entry> m_flows;
};

NS_OBJECT_ENSURE_REGISTERED(PefdQueueDisc);

} // namespace ns3
