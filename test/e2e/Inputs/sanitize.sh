# sanitize.sh SANITIZER FOLDER RUNTIME CC OPT LLC [CC-OPTION...]
# Builds FOLDER/calls from calls.c, FOLDER/model.ll and the runtime's sources, all
# of it with the sanitizer. Its passes run behind O3, on what becomes machine code.
# The thread sanitizer knows accesses of up to 16 bytes only: vectors are accessed
# element by element for it.
set -e
sanitizer=$1 folder=$2 runtime=$3 cc=$4 opt=$5 llc=$6
shift 6
case $sanitizer in
address) passes=asan ;;
thread)
  passes='function(scalarize-masked-mem-intrin,scalarizer<load-store>)'
  passes="$passes,function(tsan),tsan-module"
  ;;
esac
sed "s/^attributes #[0-9]* = {/& sanitize_$sanitizer/" "$folder/model.ll" >"$folder/marked.ll"
"$opt" -passes="$passes" "$folder/marked.ll" -o "$folder/model.bc"
"$llc" -relocation-model=pic -filetype=obj "$folder/model.bc" -o "$folder/model.o"
"$cc" -fsanitize="$sanitizer" -g -D_GNU_SOURCE -I"$folder" -I"$runtime" \
  -I"$runtime/../../include" "$@" "$(dirname "$0")/calls.c" "$folder/model.o" \
  "$runtime"/*.c -lm -lpthread -o "$folder/calls"
