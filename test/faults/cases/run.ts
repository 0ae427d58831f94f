import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isKill, run } from '../fault.ts';
import { type Case, endProblems, journalProblems, type Place, placesWith } from '../place.ts';

/** Lines of Claude Code's stream for a turn with one tool call. The shell fills in `$text`. */
export const claudeStream = `cat <<END
{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}
{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"echo"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}
{"type":"assistant","message":{"id":"b","content":[{"type":"text","text":"$text"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"s","num_turns":1}
END
`;

/** Works in its first turn, claims from the second on. It lives long enough for a loop that lost it to be seen. */
const agent = `#!/bin/sh
cat > /dev/null
printf x >> "$HOME/calls"
echo work >> work.txt
case $(cat work.txt) in work) sleep 0.2; text='More to do.' ;; *) text='All done.\\n\\n<promise>DONE</promise>' ;; esac
${claudeStream}`;

const openPlace = placesWith(
  {
    'bin/claude': agent,
    'repo/work.txt': '',
    'repo/.ralph/settings.json': JSON.stringify({
      agent: { command: 'claude' },
      guardrails: [{ command: 'true' }],
    }),
  },
  '/.ralph/settings.json\n',
);

/** A whole `ralph run`: a turn of work, a turn with a claim, a guardrail after each. */
export function runCase(): Case {
  const place = openPlace();
  const command = place.command('ralph', 'run', '-p', 'Do it.', '-m', '5', '--completion-promise', 'DONE');
  return {
    ...place,
    command,
    async problems(end, fault) {
      const problems = endProblems(end, fault);
      if (fault === null || !isKill(fault)) problems.push(...orphans(place));
      if (end.code !== 0) {
        const resumed = await run(place.command('ralph', 'run', '--resume'));
        // A run that was killed before its journal says how it started can only be started again.
        const next = resumed.code === 2 ? await run(command) : resumed;
        if (next.code !== 0) problems.push(`going on ended with ${next.code}: ${next.stderr || next.stdout}`);
      }
      problems.push(...(await acceptedProblems(place)), ...orphans(place));
      const calls = join(place.home, 'calls');
      const starts = existsSync(calls) ? readFileSync(calls, 'utf8').length : 0;
      if (starts > 3) problems.push(`the agent was started ${starts} times`);
      const status = execFileSync('git', ['status', '--porcelain', '-uall'], {
        cwd: place.cwd,
        encoding: 'utf8',
      });
      if (status !== ' M work.txt\n') problems.push(`left lying: ${status}`);
      return problems;
    },
  };
}

export function orphans(place: Place): string[] {
  return place.processes().map((pid) => `an agent lives on: ${pid}`);
}

/** The latest run has to be accepted, and every journal whole. */
async function acceptedProblems(place: Place): Promise<string[]> {
  const { code, stdout, stderr } = await run(place.command('ralph', 'runs', '--json'));
  const outcome = code === 0 ? JSON.parse(stdout).at(-1)?.outcome : null;
  return [
    ...(outcome === 'PROMISE_ACCEPTED' ? [] : [`ralph runs: ${code} ${outcome} ${stderr}`]),
    ...journalProblems(join(place.cwd, '.ralph/runs')),
  ];
}
