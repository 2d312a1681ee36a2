# What the tiers quick, test and full share; they source it after setting `bin`.

# Where the environment forbids bytecode, every process that tests start would compile greenloop again, and pytest all tests.
unset PYTHONDONTWRITEBYTECODE

# step NAME COMMAND...: prints the name, and the seconds it took; a failure ends the tier.
step() {
  local name=$1 began=$SECONDS code=0
  shift
  printf '\n== %s\n' "$name"
  "$@" || code=$?
  [ $code = 0 ] || { printf '== %s: failed after %d s\n' "$name" $((SECONDS - began)); exit $code; }
  printf '== %s: %d s\n' "$name" $((SECONDS - began))
}

# begin NAME COMMAND...: starts a command in the background, with its output in a file.
begin() {
  local name=$1
  shift
  ("$@") >"$work/$name.log" 2>&1 &
  printf '%s' $! >"$work/$name.pid"
}

# finish NAME: waits for what `begin` started; its output is shown where it failed.
finish() {
  wait "$(cat "$work/$1.pid")" || { local code=$?; cat "$work/$1.log"; return $code; }
  tail -n "${2:-5}" "$work/$1.log"
}

# required PART: does GREENLOOP_REQUIRE name this part of the machine?
required() { case ",${GREENLOOP_REQUIRE:-}," in *,"$1",*) return 0 ;; *) return 1 ;; esac }

# tests PYTEST-ARGUMENTS...: stops when many fail. Up to three failed tests get one more try, with nothing beside them:
# those that pass then are named, and have to be fixed. With GREENLOOP_STRICT there is no second try.
tests() {
  local most=4 kept code=0
  [ -z "${GREENLOOP_STRICT:-}" ] || most=20
  kept=$(mktemp -d "$work/tests-XXXX")
  "$bin/python" -m pytest -q --maxfail $most -o cache_dir="$kept" "$@" ${GREENLOOP_PYTEST:-} || code=$?
  [ $code = 1 ] && [ -z "${GREENLOOP_STRICT:-}" ] || return $code
  mapfile -t failed < <("$bin/python" -c 'import json, sys; print(*json.load(open(sys.argv[1])), sep="\n")' "$kept/v/cache/lastfailed")
  [ ${#failed[@]} -lt $most ] || return $code
  printf '\n== once more, with nothing beside them\n'
  "$bin/python" -m pytest -q -p no:cacheprovider "${failed[@]}" || return $?
  printf 'unsteady (failed beside others, passed alone): %s\n' "${failed[@]}" | tee -a "$unsteady"
}
