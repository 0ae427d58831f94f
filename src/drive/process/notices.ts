import { once } from 'node:events';
import { basename } from 'node:path';
import { formatDuration } from '../../core/duration.ts';
import { limitOfReason } from '../../core/limit-words.ts';
import { type Notice, type NoticeFacts, noticeKindOf, noticeOf } from '../../core/notice.ts';
import type { EventOf, JournalEvent } from '../../journal/events.ts';
import { nextCommand } from '../../journal/next-command.ts';
import { readRun } from '../../journal/runs.ts';
import { channelsOf } from '../../os/notify/delivery.ts';
import type { Recorder } from './loop-kind.ts';
import type { RunSpec } from './run-spec.ts';

/** Sends notices about the run to a person. Failures are recorded in the journal. */
export function startNotices(spec: RunSpec, record: Recorder) {
  const { settings, env, cwd, version, terminal, stop } = spec;
  const isSilent = channelsOf(settings.notify).length === 0;
  const sending = new Set<Promise<void>>();

  async function send(notice: Notice): Promise<void> {
    const { sendNotice } = await import('../../os/notify/send.ts');
    const next = notice.outcome === undefined ? {} : { next: nextAfter(cwd, spec.run) };
    const world = { cwd, env, version, terminal, stop, sandboxed: spec.openSandbox !== undefined };
    for (const { channel, ok, detail } of await sendNotice({ ...notice, ...next }, settings.notify, world)) {
      record({ type: 'notified', kind: notice.kind, channel, ok, detail });
    }
  }

  return {
    /** Sends a notice if the event deserves one, and does not wait for it. */
    tell(event: JournalEvent): void {
      const facts = isSilent ? null : factsOf(event);
      if (facts === null) return;
      const notice = noticeOf({ ...facts, run: spec.run, project: basename(cwd), at: event.at });
      // The journal itself may be what fails.
      const delivery: Promise<void> = send(notice)
        .catch(() => {})
        .finally(() => sending.delete(delivery));
      sending.add(delivery);
    },
    /** Resolves when all was sent or given up, or at once if the run has to stop now. Never rejects. */
    async settled(): Promise<void> {
      if (!stop.aborted) await Promise.race([Promise.all(sending), once(stop, 'abort')]);
    },
  };
}

/** Returns the command to type, which is the same as in the terminal. */
function nextAfter(cwd: string, run: string): string {
  const { view } = readRun(cwd, run);
  return nextCommand(view, { asks: view.needs?.kind === 'answer', isLatest: true });
}

type Facts = Omit<NoticeFacts, 'run' | 'project' | 'at'>;

function factsOf(event: JournalEvent): Facts | null {
  if (event.type === 'decision' && event.kind === 'wait') return waitFacts(event);
  if (event.type !== 'run.ended') return null;
  const { outcome, exitCode, because, iterations, usage } = event;
  const kind = noticeKindOf(outcome);
  if (kind === null) return null;
  const cost = usage.costUsd === undefined ? {} : { costUsd: usage.costUsd };
  return { kind, ...headlineOf('stopped', because), outcome, exitCode, iterations, ...cost };
}

/** Returns null for a provider that is busy for a moment; a usage limit may take hours. */
function waitFacts({ because, ms = 0 }: EventOf<'decision'>): Facts | null {
  if (because.code !== 'usage-limit') return null;
  const text = `${because.text}; it goes on in ${formatDuration(ms)}`;
  return { kind: 'limit', ...headlineOf('waits', { ...because, text }) };
}

/** A provider's limit is named in the title. */
function headlineOf(state: string, { code, text }: EventOf<'decision'>['because']) {
  const limit = limitOfReason(code);
  return { because: text, ...(limit && { headline: `${state}: ${limit.mark.replace('-', ' ')}` }) };
}
