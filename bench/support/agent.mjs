// An agent that does nothing but print a stream, and notes when it starts and ends.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

// EPOCHREALTIME, because to start `date` takes as long as half of what is measured.
const script = `#!/bin/bash
started=$EPOCHREALTIME
if [ "$1" = --version ]; then echo '2.1.325 (Claude Code)'; exit; fi
cat "$BENCH_STREAM"
echo "$started $EPOCHREALTIME" >>"$BENCH_TIMES"
`;

/** Puts the agent on the PATH as `claude`. */
export function installAgent(room, stream) {
  const times = join(room.folder, 'times');
  room.install('claude', script);
  return {
    extra: { BENCH_STREAM: stream, BENCH_TIMES: times },
    /** Start and end of each go since the last call, in milliseconds since 1970. */
    takeTimes() {
      if (!existsSync(times)) return [];
      const lines = readFileSync(times, 'utf8').trim().split('\n');
      rmSync(times);
      return lines.map((line) => {
        const [started, ended] = line.split(' ').map((seconds) => Number(seconds) * 1000);
        return { started, ended };
      });
    },
  };
}
