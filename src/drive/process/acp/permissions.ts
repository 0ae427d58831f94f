import { resolve } from 'node:path';
import { acpWordsOf } from '../../../agents/acp/agent.ts';
import { deniedMethod } from '../../../agents/acp/parse.ts';
import {
  type AcpCall,
  guardedCall,
  mergeCall,
  permissionOutcome,
  refusalBy,
} from '../../../agents/acp/tool-call.ts';
import { asRecord, type JsonRecord, str } from '../../../agents/json.ts';
import { oneLine } from '../../../core/text.ts';
import { isWithin, realPath } from '../../../os/files/real-path.ts';
import { judgeCall } from '../../session/guard/hook.ts';
import type { Recorder } from '../loop-kind.ts';
import type { RunSpec } from '../run-spec.ts';

/** Task of one turn, and where to put what happens in it. */
export type AcpTurn = {
  readonly prompt: string;
  readonly resumeSession?: string;
  readonly iteration: number;
  readonly record: Recorder;
  /** Gets each refusal, for the next prompt. */
  readonly refusals: string[];
  /** Adds a line of ours to the stream, for the record and for the reader of the turn. */
  addLine(line: string): void;
};

/** Answers the questions of an agent whether it may do something. */
export function createPermissions(spec: RunSpec, { iteration, record, refusals, addLine }: AcpTurn) {
  const { cwd, run, agent, settings } = spec;
  const calls = new Map<string, AcpCall>();
  const titleIsCommand = acpWordsOf(settings.agent.command ?? '').titleIsCommand === true;
  const root = realPath(spec.workingCopy.root ?? cwd);
  const isInside = (path: string) => isWithin(realPath(resolve(cwd, path)), root);

  function update(fields: JsonRecord): AcpCall {
    const id = str(fields.toolCallId) ?? '';
    const call = mergeCall(calls.get(id), fields);
    calls.set(id, call);
    return call;
  }

  async function refusalOf(call: AcpCall): Promise<string | null> {
    const byPermissions = refusalBy(agent.permissions, call, isInside);
    if (byPermissions !== null) return byPermissions;
    const { tool, input } = guardedCall(call, titleIsCommand);
    const env = { ...spec.env, ...agent.guard.env, RALPH_RUN_ID: run };
    const judgement = await judgeCall(tool, input, { env, cwd, sessionId: '' });
    if (!judgement?.denial) return null;
    record({ type: 'guard.denied', iteration, ...judgement.denial });
    return judgement.text;
  }

  return {
    /** Remembers what the agent tells about a call before it asks. */
    note(fields: JsonRecord): void {
      if (!/^tool_call(?:_update)?$/.test(str(fields.sessionUpdate) ?? '')) return;
      const { id } = update(fields);
      if (fields.status === 'completed' || fields.status === 'failed') calls.delete(id);
    },
    async answer({ toolCall, options }: JsonRecord): Promise<JsonRecord> {
      const call = update(asRecord(toolCall));
      const refusal = await refusalOf(call);
      const outcome = permissionOutcome(options, refusal === null);
      if (refusal === null && outcome.outcome === 'selected') return { outcome };
      const reason = refusal ?? 'not allowed: the agent offers no way to allow it only once';
      refusals.push(`${oneLine(call.title, 120)}: ${reason}`);
      // Before the answer: the agent may say what became of the call at once.
      addLine(JSON.stringify({ method: deniedMethod, params: { toolCallId: call.id, reason } }));
      return { outcome, _meta: { reason } };
    },
  };
}
