import { describe, expect, inject, it } from 'vitest';
import type { EventOf, JournalEvent } from '../../src/journal/events.ts';
import { show, tag } from '../support/agent.ts';
import { processesOfRun, waitUntil } from '../support/processes.ts';
import { openRoom } from './room.ts';
import { type LimitManner, rowOf } from './table.ts';

const run = ['run', '-p', 'Write the report.'];
const says = (text: string) => ({ blocks: [{ text }] });
const runs = (shell: string) => ({ blocks: [{ shell }] });

for (const agent of inject('agents')) {
  describe.skipIf('error' in agent)(
    `the real ${agent.name} ${agent.version}${agent.protocol ? ' by ACP' : ''}`,
    () => {
      it('goes through a failing guardrail and a false claim to acceptance', async () => {
        const guardrails = [{ command: 'grep -q final report.txt', hint: 'A draft is no report.' }];
        const room = await openRoom(
          agent,
          (repo) => [
            runs('echo draft > draft.txt'),
            says('There is a draft.'),
            says(`All done.\n\n${tag}`),
            { blocks: [{ write: { path: repo.path('report.txt'), content: 'final\n' } }] },
            says(`Now it is final.\n\n${tag}`),
          ],
          { guardrails },
        );
        const { code, stdout } = await room.start(...run, '-m', '5').done;
        expect(code, stdout).toBe(0);
        const { run: id, outcome, iterations, verdicts } = await show(room.repo);
        expect({ outcome, iterations }).toEqual({ outcome: 'PROMISE_ACCEPTED', iterations: 3 });
        expect(verdicts.map(({ iteration, accepted }) => [iteration, accepted])).toEqual([
          [2, false],
          [3, true],
        ]);
        expect(room.repo.read('report.txt')).toBe('final\n');
        expect(processesOfRun(id)).toEqual([]);

        const failure = 'Guardrail "grep -q final report.txt" failed with exit code';
        expect(room.asked(0)).toContain('Write the report.');
        expect(room.asked(0)).toContain(tag);
        expect(room.asked(0)).not.toContain(failure);
        for (const answer of [2, 3]) {
          expect(room.asked(answer)).toContain('Write the report.');
          expect(room.asked(answer)).toContain(failure);
          expect(room.asked(answer)).toContain('A draft is no report.');
        }
        const turns = agentEnds(room.journal());
        expect(turns.map(({ end, toolCalls }) => [end, toolCalls])).toEqual([
          ['finished', 1],
          ['finished', 0],
          ['finished', 1],
        ]);
        expect(turns.map(({ unknownEvents = {} }) => unknownEvents)).toEqual([{}, {}, {}]);
      });

      it('is not believed where the tag is thought, printed by a tool or only spoken of', async () => {
        const room = await openRoom(agent, () => [
          { blocks: [{ thinking: `Soon I may say ${tag}` }, { shell: `echo '${tag}' | tee seen.txt` }] },
          says(`I will not output ${tag} yet.`),
          says(`Checked.\n\n${tag}`),
        ]);
        const { code, stdout } = await room.start(...run, '-m', '3').done;
        expect(code, stdout).toBe(0);
        expect(await show(room.repo)).toMatchObject({ iterations: 2, verdicts: [{ iteration: 2 }] });
        expect(room.asked(2)).toContain('You wrote the completion tag among other text on its line');
      });

      it(`meets a usage limit in the middle: ${rowOf(agent).limit}`, async () => {
        const { code: expected, waits } = limitManners[rowOf(agent).limit];
        const room = await openRoom(agent, () => [
          runs('echo work > work.txt'),
          says('More to do.'),
          { limit: { seconds: 3 } },
          says(tag),
        ]);
        const { code, stdout } = await room.start(...run, '-m', '3').done;
        expect(code, stdout).toBe(expected);
        expect((await show(room.repo)).iterations).toBe(2);
        const decisions = room.journal().filter((event) => event.type === 'decision');
        const reasons = decisions.flatMap(({ kind, because }) => (kind === 'wait' ? because.code : []));
        expect([...new Set(reasons)]).toEqual(waits);
      });

      it('is given up where the API fails for ever', async () => {
        const { stubborn } = rowOf(agent);
        const settings = stubborn ? { iterationTimeout: '60s', maxFailures: 1 } : { maxWait: '2s' };
        const room = await openRoom(
          agent,
          () => [{ error: { status: 500, message: 'Internal server error' } }],
          settings,
        );
        const { code, stdout } = await room.start(...run).done;
        expect(code, stdout).toBe(stubborn ? 3 : 8);
        expect(room.asked(0)).toContain('Write the report.');
      });

      it('is given up at once where its key is refused', async () => {
        const room = await openRoom(agent, () => [
          { error: { status: 401, type: 'authentication_error', message: 'invalid x-api-key' } },
        ]);
        const { code, stdout } = await room.start(...run).done;
        expect(code, stdout).toBe(3);
        expect(await show(room.repo)).toMatchObject({ outcome: 'AGENT_FAILED', iterations: 1 });
      });

      it('goes with all that it started on the second Ctrl-C, and the run can be resumed', async () => {
        const room = await openRoom(agent, () => [
          runs('touch started; sleep 600'),
          runs('echo final > report.txt'),
          says(tag),
        ]);
        const ralph = room.start(...run);
        await waitUntil(() => room.repo.exists('started'), {
          timeoutMs: 60_000,
          what: 'the tool of the agent',
        });
        const { run: id } = await show(room.repo);
        expect(processesOfRun(id)).not.toEqual([]);
        ralph.child.kill('SIGINT');
        await waitUntil(() => ralph.output.stderr.includes('Received signal, shutting down...'));
        ralph.child.kill('SIGINT');
        const { code } = await ralph.done;
        expect(code).toBe(130);
        expect(processesOfRun(id)).toEqual([]);

        const resumed = await room.start('run', '--resume').done;
        expect(resumed.code, resumed.stdout).toBe(0);
        expect(await show(room.repo)).toMatchObject({ run: id, outcome: 'PROMISE_ACCEPTED' });
      });
    },
  );
}

const limitManners: Record<LimitManner, { code: number; waits: readonly string[] }> = {
  waits: { code: 0, waits: ['usage-limit'] },
  'backs-off': { code: 0, waits: ['overloaded'] },
  retries: { code: 0, waits: [] },
  'gives-up': { code: 8, waits: [] },
};

function agentEnds(journal: readonly JournalEvent[]): EventOf<'agent.ended'>[] {
  return journal.filter((event) => event.type === 'agent.ended');
}
