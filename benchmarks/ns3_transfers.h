// TCP transfers in ns-3 for the programs of this folder: one sender and one receiver each, NewReno.
//
// - NewReno without SACK, timestamps and scaling. TcpTxBuffer::NextSeg of 3.37 hands out a segment of no length when the
//   data in flight are all that the receiver's window takes, and the sender crashes. So the buffer of the sender, not
//   the window, holds it to 43 segments; the window is larger.
// - Listeners are closed when they have accepted: ns-3 searches all of them for each packet.

#pragma once

#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>

#include <algorithm>

using namespace ns3;

namespace
{

constexpr uint32_t SEGMENT = 1460;
constexpr uint32_t WINDOW = 43;   // segments
constexpr uint32_t CHUNK = 16;    // segments an application hands over at a time, at most
constexpr uint32_t PORTS = 48000; // those of sources begin at 49152

/// One transfer, and what became of it.
struct Transfer
{
    double startS = 0;
    uint64_t bytes = 0; // 0: without end
    Ptr<Node> from;
    Ptr<Node> to;
    Ipv4Address address;
    uint16_t port = 0;
    uint64_t written = 0;
    uint64_t read = 0;
    uint64_t readBefore = 0; // by the end of the warm-up
    double readS = 0;        // when the last of it was read
    Ptr<Socket> listener;
    Ptr<Socket> source;
    Ptr<Socket> sink;

    /// Hands over what fits into the sender's buffer, then closes.
    void Write(Ptr<Socket> socket, uint32_t)
    {
        while (socket->GetTxAvailable() >= SEGMENT && (bytes == 0 || written < bytes))
        {
            uint64_t most = std::min(socket->GetTxAvailable() / SEGMENT, CHUNK) * SEGMENT;
            auto size = static_cast<uint32_t>(bytes == 0 ? most : std::min(most, bytes - written));
            if (socket->Send(Create<Packet>(size)) < 0)
            {
                return;
            }
            written += size;
        }
        if (bytes > 0 && written == bytes)
        {
            socket->SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
            socket->Close();
        }
    }

    void Connected(Ptr<Socket> socket)
    {
        socket->SetSendCallback(MakeCallback(&Transfer::Write, this));
        Write(socket, 0);
    }

    void Accepted(Ptr<Socket> socket, const Address&)
    {
        sink = socket;
        socket->SetRecvCallback(MakeCallback(&Transfer::Read, this));
        socket->SetCloseCallbacks(MakeCallback(&Transfer::Finished, this), MakeNullCallback<void, Ptr<Socket>>());
        listener->Close();
    }

    void Read(Ptr<Socket> socket)
    {
        for (auto packet = socket->Recv(); packet && packet->GetSize() > 0; packet = socket->Recv())
        {
            read += packet->GetSize();
            readS = Simulator::Now().GetSeconds();
        }
    }

    void Finished(Ptr<Socket> socket)
    {
        socket->Close();
    }

    void Start()
    {
        listener = Socket::CreateSocket(to, TcpSocketFactory::GetTypeId());
        listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                    MakeCallback(&Transfer::Accepted, this));
        listener->Listen();
        source = Socket::CreateSocket(from, TcpSocketFactory::GetTypeId());
        source->SetConnectCallback(MakeCallback(&Transfer::Connected, this),
                                   MakeNullCallback<void, Ptr<Socket>>());
        source->Connect(InetSocketAddress(address, port));
    }
};

inline void
TcpDefaults()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::MaxSegLifetime", DoubleValue(1));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(WINDOW * SEGMENT));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(65535));
    // Starved flows go on trying.
    Config::SetDefault("ns3::TcpSocket::ConnCount", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000));
}

inline Ptr<Ipv4StaticRouting>
Routes(Ptr<Node> node)
{
    return Ipv4StaticRoutingHelper().GetStaticRouting(node->GetObject<Ipv4>());
}

/// Sends whatever has no other route to a gateway of one of the node's networks.
inline void
DefaultRoute(Ptr<Node> node, Ipv4Address gateway)
{
    auto ipv4 = node->GetObject<Ipv4>();
    for (uint32_t n = 1; n < ipv4->GetNInterfaces(); n++)
    {
        if (ipv4->GetAddress(n, 0).IsInSameSubnet(gateway))
        {
            Routes(node)->SetDefaultRoute(gateway, n);
        }
    }
}

} // namespace
