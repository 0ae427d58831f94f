import { notifyEnd } from '../safety/notify-end.ts';
import type { LoopRecord } from '../store/fleet-loops.ts';
import { workerRunId } from '../store/fleet-paths.ts';
import type { Worker } from '../store/fleet-workers.ts';
import type { Environment } from '../system/program.ts';

/** Tells people of loops that are over. */
export type Notices = {
  /** Nothing waits for it but the end of the supervisor. */
  tell(worker: Worker, loop: LoopRecord): void;
  isEmpty(): boolean;
  /** When all are sent. */
  sent(): Promise<void>;
};

export function createNotices(options: {
  readonly env: Environment;
  readonly version: string;
  now(): number;
  say(line: string): void;
}): Notices {
  const { env, version, say } = options;
  const underWay = new Set<Promise<void>>();
  return {
    tell(worker, loop) {
      if (loop.status !== 'stopped' && loop.status !== 'failed') return;
      const { name, cwd } = worker;
      const facts = {
        kind: loop.status === 'failed' ? 'failure' : loop.end?.exitCode === 0 ? 'done' : 'limit',
        run: workerRunId(env, name),
        project: name,
        iterations: loop.iteration,
        at: new Date(options.now()).toISOString(),
        because: loop.why.detail ?? loop.why.state,
      } as const;
      const sent = notifyEnd(facts, { cwd, env, version }).then(({ deliveries, problem }) => {
        if (problem !== undefined) say(`swarm: warning: ${name}: nothing was notified: ${problem}`);
        for (const { ok, channel, detail } of deliveries) {
          if (!ok) say(`swarm: warning: ${name}: not notified by ${channel}: ${detail}`);
        }
        underWay.delete(sent);
      });
      underWay.add(sent);
    },
    isEmpty: () => underWay.size === 0,
    sent: async () => void (await Promise.all(underWay)),
  };
}
