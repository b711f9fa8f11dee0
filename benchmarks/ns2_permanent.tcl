# Endless TCP flows and CBR flows of 1 Mb/s over 28 Mb/s and 50 ms with drop-tail in ns-2.
# ns ns2_permanent.tcl STARTS.csv SECONDS SCHEDULER; the file has a row protocol,start_s per flow. Prints the data
# packets that the TCP senders sent, those of them sent again, and the CBR packets lost.
lassign $argv starts seconds scheduler
set sim [new Simulator]
remove-all-packet-headers
add-packet-header IP TCP Flags RTP
$sim use-scheduler $scheduler
Agent/TCP set packetSize_ 960
Agent/TCP set window_ 64
set left [$sim node]
set right [$sim node]
$sim duplex-link $left $right 28Mb 50ms DropTail
$sim queue-limit $left $right 60
$sim queue-limit $right $left 100000
set rows [open $starts]
gets $rows
while {[gets $rows row] >= 0} {
    lassign [split $row ,] protocol start
    set from [$sim node]
    set to [$sim node]
    foreach {a b} [list $from $left $right $to] {
        $sim duplex-link $a $b 1000Mb 0ms DropTail
        $sim queue-limit $a $b 100000
        $sim queue-limit $b $a 100000
    }
    if {$protocol eq "tcp"} {
        set sender [new Agent/TCP/Newreno]
        set sink [new Agent/TCPSink]
        set source [new Application/FTP]
        lappend senders $sender
    } else {
        set sender [new Agent/UDP]
        set sink [new Agent/LossMonitor]
        $sender set packetSize_ 1000
        set source [new Application/Traffic/CBR]
        $source set packetSize_ 1000
        $source set rate_ 1Mb
        lappend monitors $sink
    }
    $sim attach-agent $from $sender
    $sim attach-agent $to $sink
    $sim connect $sender $sink
    $source attach-agent $sender
    $sim at $start [list $source start]
}
$sim at $seconds {
    foreach name {packets again lost} { set $name 0 }
    foreach sender $senders {
        incr packets [$sender set ndatapack_]
        incr again [$sender set nrexmitpack_]
    }
    foreach monitor $monitors { incr lost [$monitor set nlost_] }
    puts "$packets,$again,$lost"
    exit 0
}
$sim run
