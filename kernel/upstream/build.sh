#!/bin/bash
# build.sh HOME OUT: builds OUT/upstream, which runs queue disciplines of the test kernel in HOME (kernel/uml/build.sh) in a
# process: the objects of its build, with main.c and kernel.c. Nothing of the kernel is copied or compiled anew. Exit status 77:
# it cannot be built here, the last line says why.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
home=${1:?usage: build.sh HOME OUT} out=${2:?usage: build.sh HOME OUT}

skip() {
  echo "no disciplines of the kernel: $*" >&2
  exit 77
}

for tool in gcc objcopy; do
  command -v "$tool" >/dev/null || skip "$tool is missing"
done
home=$(cd "$home" && pwd)
told=$home/build/net/sched/.sch_cake.o.cmd
[ -e "$told" ] || skip "$home has no build of a kernel with sch_cake"
grep -q '^CONFIG_KASAN=y' "$home/build/.config" && skip "$home is a kernel that finds errors of memory"
mkdir -p "$out"
objects=()
for id in codel fq_codel cake; do
  # What a module would register is static.
  objcopy --globalize-symbol="${id}_qdisc_ops" "$home/build/net/sched/sch_$id.o" "$out/sch_$id.o"
  objects+=("$out/sch_$id.o")
done
# As the kernel's objects were compiled, in case it was moved since: with its structs, of its configuration.
flags=$(sed -n '1{s/^[^=]*= gcc //; s/-Wp,-MMD[^ ]* //; s/ -c -o .*//; p}' "$told" | sed "s#/[^ =]*/source/#$home/source/#g")
(cd "$home/build" && eval gcc "$flags" -I"$here" -c -o "$out/kernel.o" "$here/kernel.c")
gcc -std=gnu11 -Wall -Wextra -Werror -O2 -c -o "$out/main.o" "$here/main.c"
# Whatever else the kernel has is never called: a call of it ends the program.
gcc -no-pie -Wl,--unresolved-symbols=ignore-all -o "$out/upstream" "$out/main.o" "$out/kernel.o" "${objects[@]}"
echo "$out/upstream"
