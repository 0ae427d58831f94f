import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { host as claudeCode } from '../../../src/agents/claude/host.ts';
import { parseHookInput } from '../../../src/drive/hook/input.ts';
import { promptHook } from '../../../src/drive/hook/prompt.ts';
import { stopHook } from '../../../src/drive/hook/stop.ts';
import { listEndedLoops, listSessionLoops } from '../../../src/drive/session/session-loops.ts';
import { sessionRunsFolder } from '../../../src/drive/session/session-paths.ts';
import { runRalph } from '../../support/ralph.ts';
import { makeRepo, type Repo } from '../../support/repo.ts';

const day = 86_400_000;
const start = '/ralph-loop fix it --min-tool-calls 0';

/** A loop inside a session in the folder of this repository, started so many days ago. */
function startLoop({ cwd, env }: Repo, { session = 's', daysAgo = 0 } = {}) {
  const now = () => Date.now() - daysAgo * day;
  const context = { env, now, driver: cwd, version: '0.0.0', warn() {} };
  const input = (extra: object) => parseHookInput(JSON.stringify({ session_id: session, cwd, ...extra }));
  const types = (prompt: string) => promptHook(claudeCode, input({ prompt }), context);
  types(start);
  const run = listSessionLoops(env).find(({ sessionId }) => sessionId === session)?.run ?? '';
  expect(run).not.toBe('');
  return {
    run,
    types,
    says: (text: string) => stopHook(claudeCode, input({ last_assistant_message: text }), context),
  };
}

describe('a loop inside a session, from outside', () => {
  it('is judged again by ralph verdict, from the words in its journal', async () => {
    const repo = makeRepo();
    const { run, says } = startLoop(repo);
    await says('I will not output <promise>DONE</promise> yet.');
    await says('<promise>DONE</promise>');
    const { code, stdout, stderr } = await runRalph(['verdict', run, '--json'], repo);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { verdicts, same } = JSON.parse(stdout);
    expect(same).toBe(true);
    expect(verdicts).toMatchObject([
      { claim: 'none', rejudged: { accepted: false, same: true } },
      { claim: 'done', accepted: true, rejudged: { accepted: true, same: true } },
    ]);
  });

  it('is ended by ralph stop, whether its session is there or not', async () => {
    const repo = makeRepo();
    const { run, says } = startLoop(repo);
    const { code, stdout } = await runRalph(['stop', run], repo);
    expect(code).toBe(0);
    expect(stdout).toContain('Ralph loop ended: CANCELLED');
    expect(listSessionLoops(repo.env)).toEqual([]);
    expect(listEndedLoops(repo.env)[0]?.loop.outcome).toBe('CANCELLED');
    expect(await says('more')).toEqual({ kind: 'silent' });
    const again = await runRalph(['stop', run], repo);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('does not run any more');
  });

  it('counts and ends although somebody removed its record', async () => {
    const repo = makeRepo();
    const { says, types } = startLoop(repo);
    const records = sessionRunsFolder(repo.env);
    rmSync(records, { recursive: true });
    await says('more');
    expect(listSessionLoops(repo.env)[0]?.loop.iteration).toBe(1);
    rmSync(records, { recursive: true });
    expect(types('/cancel-ralph')).toMatchObject({ message: expect.stringContaining('CANCELLED') });
    expect(listSessionLoops(repo.env)).toEqual([]);
  });

  it('is not started again by the same words once it goes on', async () => {
    const repo = makeRepo();
    const { run, says, types } = startLoop(repo);
    expect(types(start)).toEqual({ kind: 'silent' });
    await says('more');
    expect(types(start)).toMatchObject({ kind: 'answer', message: expect.stringContaining(`${run} is`) });
  });

  it('is not ended by the agent that it keeps at work', async () => {
    const repo = makeRepo();
    const { run } = startLoop(repo, { session: 'mine' });
    const env = { ...repo.env, CLAUDE_CODE_SESSION_ID: 'mine' };
    const { code, stderr } = await runRalph(['stop', run], { ...repo, env });
    expect(code).not.toBe(0);
    expect(stderr).toContain('this is the loop that you work in');
    expect(listSessionLoops(repo.env)).toHaveLength(1);
  });

  it('is listed as silent when its session gave no sign for days', async () => {
    const repo = makeRepo();
    const old = startLoop(repo, { session: 'old', daysAgo: 4 });
    const fresh = startLoop(repo, { session: 'fresh' });
    const rows = (await runRalph(['runs'], repo)).stdout.split('\n');
    expect(rows.find((row) => row.startsWith(old.run))).toContain('no sign for 4 days; ralph stop');
    expect(rows.find((row) => row.startsWith(fresh.run))).not.toContain('no sign');
  });
});
