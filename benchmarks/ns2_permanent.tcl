# 35 endless TCP flows and 22 CBR flows of 1 Mb/s over 28 Mb/s and 50 ms with drop-tail in ns-2, for timing.
# ns ns2_permanent.tcl SECONDS SCHEDULER; prints how many data packets the TCP senders sent, repeats among them.
lassign $argv seconds scheduler
set sim [new Simulator]
remove-all-packet-headers
add-packet-header IP TCP Flags RTP
$sim use-scheduler $scheduler
Agent/TCP set packetSize_ 960
Agent/TCP set window_ 64
set starts [new RNG]
$starts seed 2
set left [$sim node]
set right [$sim node]
$sim duplex-link $left $right 28Mb 50ms DropTail
$sim queue-limit $left $right 60
$sim queue-limit $right $left 100000
for {set flow 0} {$flow < 57} {incr flow} {
    set from [$sim node]
    set to [$sim node]
    foreach {a b} [list $from $left $right $to] {
        $sim duplex-link $a $b 1000Mb 0ms DropTail
        $sim queue-limit $a $b 100000
        $sim queue-limit $b $a 100000
    }
    if {$flow < 35} {
        set sender [new Agent/TCP/Newreno]
        set sink [new Agent/TCPSink]
        set source [new Application/FTP]
        lappend senders $sender
    } else {
        set sender [new Agent/UDP]
        set sink [new Agent/Null]
        $sender set packetSize_ 1000
        set source [new Application/Traffic/CBR]
        $source set packetSize_ 1000
        $source set rate_ 1Mb
    }
    $sim attach-agent $from $sender
    $sim attach-agent $to $sink
    $sim connect $sender $sink
    $source attach-agent $sender
    $sim at [$starts uniform 0 2.0] [list $source start]
}
$sim at $seconds {
    set packets 0
    foreach sender $senders { incr packets [$sender set ndatapack_] }
    puts $packets
    exit 0
}
$sim run
