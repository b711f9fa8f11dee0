# A flow list over the wired dumbbell in ns-2, for timing: one record per flow, no tracing, agents used again.
# ns ns2_wired.tcl FLOWS.csv SECONDS SCHEDULER RECORDS.csv
lassign $argv listing seconds scheduler records
set sim [new Simulator]
remove-all-packet-headers
add-packet-header IP TCP Flags
$sim use-scheduler $scheduler
Agent/TCP set window_ 43
Agent/TCP set packetSize_ 1460

proc cable {a b rate limit} {
    global sim
    $sim duplex-link $a $b $rate 1ms DropTail
    $sim queue-limit $a $b $limit
    $sim queue-limit $b $a $limit
}
set left [$sim node]
set right [$sim node]
cable $left $right 10Mb 300
foreach host {1 2 3 4 5} { set at($host) [$sim node]; cable $at($host) $left 100Mb 100000 }
foreach host {8 9 10 11 12} { set at($host) [$sim node]; cable $right $at($host) 100Mb 100000 }

set channel [open $listing]
set table [open $records w]
puts $table flow_id,finish_s,packets_sent,retransmits,timeouts
gets $channel
proc upcoming {} {
    global sim channel
    if {[gets $channel row] < 0} return
    set flow [split $row ,]
    $sim at [lindex $flow 1] [list begin $flow]
}
proc begin {flow} {
    global sim at idle
    lassign $flow id start from to packets
    upcoming
    set pair $from-$to
    if {![info exists idle($pair)] || $idle($pair) eq ""} {
        set sender [new Agent/TCP/Newreno]
        set sink [new Agent/TCPSink/DelAck]
        $sim attach-agent $at($from) $sender
        $sim attach-agent $at($to) $sink
        $sim connect $sender $sink
        $sender set peer $sink
        $sender set pair $pair
    } else {
        set sender [lindex $idle($pair) end]
        set idle($pair) [lreplace $idle($pair) end end]
    }
    $sender set flow $id
    $sender advanceby $packets
}
Agent/TCP instproc done {} {
    global sim table
    puts $table [join [list [$self set flow] [$sim now] [$self set ndatapack_] [$self set nrexmitpack_] [$self set nrexmit_]] ,]
    $sim at [$sim now] [list again $self]
}
proc again {sender} {
    global idle
    $sender reset
    [$sender set peer] reset
    lappend idle([$sender set pair]) $sender
}
upcoming
$sim at $seconds {close $table; exit 0}
$sim run
