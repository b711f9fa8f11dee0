//! Which packets count: a subset of the expressions of tcpdump, evaluated on decoded packets.
//!
//! Principle: an expression is parsed to its tests in the order in which a stack takes them; of each packet a stack of bits
//! is computed. `and` and `or` have equal precedence and go from left to right, `not` binds closest, and a value without a
//! word before it has the words of the value before, as in `port 80 or 443`. It differs from libpcap in four things:
//!
//! - Tests look behind VLAN tags without a `vlan` before them, and `vlan` is true or false of the whole frame.
//! - A fragment has the ports of its packet.
//! - `icmp6` and the ports of IPv6 are found behind extension headers, too.
//! - A packet that is not decoded (ARP, ESP) passes no filter.
//!
//! Source: pcap-filter(7) of libpcap 1.10.

use std::fmt;
use std::net::IpAddr;

use crate::decode::segment::{Segment, Transport};
use crate::prefix::Prefix;

/// Parentheses within each other, at most.
const DEEPEST: u32 = 16;

/// Bytes of an expression, at most.
const LONGEST: usize = 4096;

const ALLOWED: &str = "[src|dst] host ADDRESS, [src|dst] net NETWORK, [tcp|udp] [src|dst] port N or portrange N-M, tcp, udp, \
                       icmp, icmp6, ip, ip6, vlan [ID], and, or, not, parentheses";

/// An expression that is none; displayed, the line that refuses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFilter {
    expression: String,
    why: String,
}

impl NotFilter {
    /// Why, and the tests that are allowed, without the expression.
    pub fn reason(&self) -> String {
        format!("{}; allowed are {ALLOWED}", self.why)
    }
}

impl fmt::Display for NotFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.expression.escape_debug().to_string().replace("\\'", "'");
        write!(f, "filter = '{shown}': {}", self.reason())
    }
}

impl std::error::Error for NotFilter {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Source,
    Destination,
    Either,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Tcp,
    Udp,
    Icmp,
    Icmp6,
    Ip,
    Ip6,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Addresses(Way, Prefix),
    Ports(Way, Option<Protocol>, u16, u16),
    Protocol(Protocol),
    Vlan(Option<u16>),
    Not,
    And,
    Or,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    steps: Vec<Step>,
}

impl Filter {
    /// Parses an expression.
    ///
    /// # Errors
    /// The text is no expression of this subset.
    pub fn parse(text: &str) -> Result<Filter, NotFilter> {
        let refused = |why: String| NotFilter { expression: text.chars().take(80).collect(), why };
        if text.len() > LONGEST {
            return Err(refused(format!("{} bytes: must be at most {LONGEST}", text.len())));
        }
        let words = words_of(text);
        let mut parser = Parser { words: &words, at: 0, depth: 0, steps: Vec::new(), before: None };
        parser.expression().and_then(|()| parser.end()).map_err(refused)?;
        Ok(Filter { steps: parser.steps })
    }

    /// Whether it has a test of VLAN tags.
    pub(crate) fn asks_tags(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Vlan(_)))
    }

    /// Whether a packet passes; `tags` are the identifiers of the VLANs of its frame.
    pub(crate) fn passes(&self, segment: &Segment, tags: &[u16]) -> bool {
        // Operands that wait are fewer than twice the parentheses within each other.
        let mut stack = 0_u64;
        for step in &self.steps {
            stack = match *step {
                Step::Not => stack ^ 1,
                Step::And => (stack >> 1) & (stack | !1),
                Step::Or => (stack >> 1) | (stack & 1),
                test => stack << 1 | u64::from(test.holds(segment, tags)),
            };
        }
        stack & 1 == 1
    }
}

impl Step {
    fn holds(self, segment: &Segment, tags: &[u16]) -> bool {
        let either = |way: Way, test: &dyn Fn(crate::Endpoint) -> bool| match way {
            Way::Source => test(segment.source),
            Way::Destination => test(segment.destination),
            Way::Either => test(segment.source) || test(segment.destination),
        };
        match self {
            Step::Addresses(way, prefix) => either(way, &|end| prefix.contains(end.address)),
            Step::Ports(way, protocol, least, most) => {
                let has_ports = match protocol {
                    Some(protocol) => protocol.is_of(segment),
                    None => Protocol::Tcp.is_of(segment) || Protocol::Udp.is_of(segment),
                };
                has_ports && either(way, &|end| (least..=most).contains(&end.port))
            }
            Step::Protocol(protocol) => protocol.is_of(segment),
            Step::Vlan(id) => id.map_or(!tags.is_empty(), |id| tags.contains(&id)),
            Step::Not | Step::And | Step::Or => false,
        }
    }
}

impl Protocol {
    fn is_of(self, segment: &Segment) -> bool {
        let six = segment.source.address.is_ipv6();
        match (self, &segment.transport) {
            (Protocol::Tcp, Transport::Tcp(_)) | (Protocol::Udp, Transport::Udp { .. }) => true,
            (Protocol::Icmp, Transport::Icmp { .. }) | (Protocol::Ip, _) => !six,
            (Protocol::Icmp6, Transport::Icmp { .. }) | (Protocol::Ip6, _) => six,
            _ => false,
        }
    }
}

/// Words, numbers and addresses; parentheses and signs stand for themselves.
fn words_of(text: &str) -> Vec<&str> {
    let (mut words, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '(' | ')' | '!' => 1,
            '&' if rest.starts_with("&&") => 2,
            '|' if rest.starts_with("||") => 2,
            _ => {
                let end = |one: char| one.is_whitespace() || matches!(one, '(' | ')' | '!' | '&' | '|');
                rest.find(end).unwrap_or(rest.len()).max(first.len_utf8())
            }
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    words
}

/// Which value a word takes.
#[derive(Clone, Copy)]
enum Kind {
    Host,
    Net,
    Port,
    Range,
}

/// The words before a value.
#[derive(Clone, Copy)]
struct Before {
    protocol: Option<Protocol>,
    way: Way,
    kind: Kind,
}

struct Parser<'a> {
    words: &'a [&'a str],
    at: usize,
    depth: u32,
    steps: Vec<Step>,
    before: Option<Before>,
}

impl<'a> Parser<'a> {
    fn next(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    fn takes(&mut self, words: &[&str]) -> Option<&'a str> {
        let next = self.next().filter(|next| words.contains(next))?;
        self.at += 1;
        Some(next)
    }

    fn end(&self) -> Result<(), String> {
        self.next().map_or(Ok(()), |word| Err(format!("'{word}' stands where 'and' or 'or' is expected")))
    }

    fn expression(&mut self) -> Result<(), String> {
        self.term()?;
        while let Some(word) = self.takes(&["and", "&&", "or", "||"]) {
            self.term()?;
            self.steps.push(if matches!(word, "and" | "&&") { Step::And } else { Step::Or });
        }
        Ok(())
    }

    fn term(&mut self) -> Result<(), String> {
        let mut flips = false;
        while self.takes(&["not", "!"]).is_some() {
            flips = !flips;
        }
        if self.takes(&["("]).is_some() {
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err(format!("more than {DEEPEST} parentheses are within each other"));
            }
            self.expression()?;
            self.depth -= 1;
            if self.takes(&[")"]).is_none() {
                return Err("a parenthesis is not closed".to_owned());
            }
        } else {
            let test = self.test()?;
            self.steps.push(test);
        }
        if flips {
            self.steps.push(Step::Not);
        }
        Ok(())
    }

    fn test(&mut self) -> Result<Step, String> {
        if self.takes(&["vlan"]).is_some() {
            let id = self.next().filter(|next| next.bytes().all(|byte| byte.is_ascii_digit()));
            let Some(id) = id else { return Ok(Step::Vlan(None)) };
            self.at += 1;
            let id = id.parse().ok().filter(|&id| id < 4096);
            return id.map(|id| Step::Vlan(Some(id))).ok_or_else(|| "vlan: an ID must be 0 to 4095".to_owned());
        }
        let protocol = self.takes(&["tcp", "udp", "icmp", "icmp6", "ip", "ip6"]).map(|word| match word {
            "tcp" => Protocol::Tcp,
            "udp" => Protocol::Udp,
            "icmp" => Protocol::Icmp,
            "icmp6" => Protocol::Icmp6,
            "ip" => Protocol::Ip,
            _ => Protocol::Ip6,
        });
        let way = self.takes(&["src", "dst"]);
        let kind = self.takes(&["host", "net", "port", "portrange"]);
        if let (Some(protocol), None, None) = (protocol, way, kind) {
            return Ok(Step::Protocol(protocol));
        }
        let way_of = |word| if word == "src" { Way::Source } else { Way::Destination };
        let kind = match kind {
            Some("net") => Some(Kind::Net),
            Some("port") => Some(Kind::Port),
            Some("portrange") => Some(Kind::Range),
            Some(_) => Some(Kind::Host),
            None => way.map(|_| Kind::Host),
        };
        let before = match (kind, self.before) {
            (Some(kind), _) => Before { protocol, way: way.map_or(Way::Either, way_of), kind },
            (None, Some(before)) => before,
            (None, None) => Before { protocol: None, way: Way::Either, kind: Kind::Host },
        };
        if protocol.is_some() && !matches!(before.kind, Kind::Port | Kind::Range) {
            return Err(
                "a protocol stands before 'port' and 'portrange' alone: write 'tcp and host ADDRESS'".to_owned()
            );
        }
        if matches!(protocol, Some(Protocol::Icmp | Protocol::Icmp6 | Protocol::Ip | Protocol::Ip6)) {
            return Err("of protocols tcp and udp have ports: write 'ip and port N'".to_owned());
        }
        let Some(value) = self.next().filter(|next| !matches!(*next, ")" | "and" | "or" | "&&" | "||")) else {
            let message = if self.at == 0 { "there is no test" } else { "a test is missing at its end" };
            return Err(match self.next() {
                Some(word) => format!("'{word}' stands where a test is expected"),
                None => message.to_owned(),
            });
        };
        self.at += 1;
        self.before = Some(before);
        let unknown = || format!("'{value}' is none of its words");
        match before.kind {
            Kind::Host => {
                let address: IpAddr =
                    value.parse().map_err(|_| if kind.is_some() { no_address(value) } else { unknown() })?;
                let bits = if address.is_ipv4() { 32 } else { 128 };
                let prefix = Prefix::of(address, bits).ok_or_else(|| no_address(value))?;
                Ok(Step::Addresses(before.way, prefix))
            }
            Kind::Net => Ok(Step::Addresses(before.way, network(value)?)),
            Kind::Port => {
                let port = port(value)?;
                Ok(Step::Ports(before.way, before.protocol, port, port))
            }
            Kind::Range => {
                let (least, most) = value.split_once('-').unwrap_or((value, value));
                let (least, most) = (port(least)?, port(most)?);
                // As libpcap has it.
                Ok(Step::Ports(before.way, before.protocol, least.min(most), least.max(most)))
            }
        }
    }
}

fn no_address(value: &str) -> String {
    format!("'{value}' is no IPv4 or IPv6 address, and names are not looked up")
}

fn port(value: &str) -> Result<u16, String> {
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let port = if digits { value.parse().ok() } else { None };
    port.ok_or_else(|| format!("'{value}' is no port: must be a number from 0 to 65535"))
}

/// `10.0.0.0/8`, `2001:db8::/32`; of IPv4 the bytes at the end may be left out, which without a length is that of the rest.
fn network(value: &str) -> Result<Prefix, String> {
    let (address, length) = value.split_once('/').map_or((value, None), |(address, length)| (address, Some(length)));
    let none = || format!("'{value}' is no network such as 10.0.0.0/8 or 2001:db8::/32");
    let bytes: Vec<u8> = address.split('.').map_while(|byte| port(byte).ok()?.try_into().ok()).collect();
    let (address, whole): (IpAddr, u32) = match address.parse() {
        Ok(address @ IpAddr::V4(_)) => (address, 32),
        Ok(address @ IpAddr::V6(_)) => (address, 128),
        Err(_) if bytes.len() == address.split('.').count() && bytes.len() < 4 => {
            let mut four = [0; 4];
            four[..bytes.len()].copy_from_slice(&bytes);
            (IpAddr::from(four), 8 * bytes.len() as u32)
        }
        Err(_) => return Err(none()),
    };
    let bits = match length {
        None => whole,
        Some(length) if length.bytes().all(|byte| byte.is_ascii_digit()) => length.parse().map_err(|_| none())?,
        Some(_) => return Err(none()),
    };
    Prefix::of(address, bits).ok_or_else(|| format!("'{value}' has bits behind its prefix, or too long a one"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::segment::{Endpoint, TcpHeader};

    fn end(address: &str, port: u16) -> Endpoint {
        Endpoint { address: address.parse().expect("an address"), port }
    }

    fn tcp(source: Endpoint, destination: Endpoint) -> Segment {
        let header = TcpHeader { seq: 0, ack: 0, flags: 0, window: 0, options: Default::default() };
        Segment { source, destination, transport: Transport::Tcp(header), ..Segment::NONE }
    }

    fn passes(expression: &str, segment: &Segment, tags: &[u16]) -> bool {
        Filter::parse(expression).expect("an expression").passes(segment, tags)
    }

    #[test]
    fn tests_are_of_addresses_ports_protocols_and_tags() {
        let web = tcp(end("10.0.0.5", 40000), end("192.0.2.1", 443));
        let ping = Segment {
            transport: Transport::Icmp { reply: false, number: 0 },
            ..tcp(end("fe80::1", 128), end("fe80::2", 0))
        };
        for expression in [
            "host 10.0.0.5",
            "10.0.0.5",
            "src 10.0.0.5",
            "dst host 192.0.2.1",
            "net 10",
            "net 192.0.2",
            "net 192.0.2.0/24",
            "src net 10.0.0.0/8",
            "port 443",
            "tcp dst port 443",
            "portrange 400-450",
            "portrange 450-400",
            "tcp",
            "ip",
            "vlan",
            "vlan 7",
            "not udp",
            "!udp && !(icmp || icmp6)",
            "not not tcp",
            "port 80 or 443",
            "host 192.0.2.9 or 192.0.2.1",
            // From left to right, as tcpdump has it.
            "tcp or tcp and vlan",
        ] {
            assert!(passes(expression, &web, &[7]), "{expression}");
        }
        for expression in [
            "host 10.0.0.6",
            "dst 10.0.0.5",
            "src port 443",
            "udp port 443",
            "udp",
            "ip6",
            "vlan 8",
            "tcp or tcp and udp",
            "icmp",
            "host ::1",
        ] {
            assert!(!passes(expression, &web, &[7]), "{expression}");
        }
        assert!(!passes("vlan", &web, &[]) && !passes("tcp or tcp and vlan", &web, &[]));
        assert!(passes("icmp6 and ip6 and net fe80::/10 and not port 128", &ping, &[]));
    }

    #[test]
    fn anything_else_is_refused_in_a_line_that_names_what_is_allowed() {
        for (wrong, why) in [
            ("", "there is no test"),
            ("host", "a test is missing at its end"),
            ("tcp and", "a test is missing at its end"),
            ("and tcp", "'and' stands where a test is expected"),
            ("host example.org", "'example.org' is no IPv4 or IPv6 address, and names are not looked up"),
            ("greater 100", "'greater' is none of its words"),
            ("tcp[13] & 2 != 0", "'tcp[13]' is none of its words"),
            ("port http", "'http' is no port: must be a number from 0 to 65535"),
            ("port 65536", "'65536' is no port: must be a number from 0 to 65535"),
            ("portrange 1-", "'' is no port: must be a number from 0 to 65535"),
            ("net 10.0.0.1/8", "'10.0.0.1/8' has bits behind its prefix, or too long a one"),
            ("net 10.0.0.0/33", "'10.0.0.0/33' has bits behind its prefix, or too long a one"),
            ("net x", "'x' is no network such as 10.0.0.0/8 or 2001:db8::/32"),
            ("vlan 4096", "vlan: an ID must be 0 to 4095"),
            ("(tcp", "a parenthesis is not closed"),
            ("tcp)", "')' stands where 'and' or 'or' is expected"),
            ("tcp udp", "'udp' stands where 'and' or 'or' is expected"),
            ("icmp port 3", "of protocols tcp and udp have ports: write 'ip and port N'"),
        ] {
            let refused = Filter::parse(wrong).map_err(|refused| refused.to_string());
            assert_eq!(refused, Err(format!("filter = '{wrong}': {why}; allowed are {ALLOWED}")));
        }
        let deep = format!("{}tcp{}", "(".repeat(17), ")".repeat(17));
        assert!(Filter::parse(&deep).is_err() && Filter::parse(&deep[1..deep.len() - 1]).is_ok());
        assert!(Filter::parse(&"not ".repeat(2000)).is_err());
        let long = vec!["tcp"; 500].join(" or ");
        assert!(passes(&long, &tcp(end("10.0.0.5", 1), end("10.0.0.6", 2)), &[]));
    }
}
