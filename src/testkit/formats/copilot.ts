import type { ApiError } from '../script.ts';
import { openAiError } from './api-error.ts';
import {
  type AgentFormat,
  createIds,
  type Ids,
  lines,
  silent,
  type ToolCall,
  type ToolEnd,
} from './format.ts';

const model = 'fake-model';

/** `copilot -p --output-format json`, as 1.0.102 prints it: deltas, then the whole message; no tokens anywhere. */
export const copilot: AgentFormat = {
  version: "GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.",
  streamWords: ['json'],
  exitCode: () => 1,
  open({ prompt, turn }) {
    const ids = createIds(turn);
    const events = createEvents(ids);
    const { event, passing, userMessage, message, callStart, callEnd, turnId, inCall } = events;
    const { originatingMessageId } = events;
    let toolCallId = '';

    return {
      ...silent,
      start: () => lines(passing('session.tools_updated', { model }), userMessage(prompt)),
      text(parts) {
        const messageId = ids.uuid();
        return lines(
          ...callStart(),
          passing('assistant.message_start', { messageId }),
          ...parts.map((deltaContent) => passing('assistant.message_delta', { messageId, deltaContent })),
          message(messageId, parts.join(''), []),
          callEnd(),
        );
      },
      thinking(content) {
        const reasoningId = ids.uuid();
        return lines(
          ...callStart(),
          passing('assistant.reasoning_delta', { reasoningId, deltaContent: content }),
          passing('assistant.reasoning', { reasoningId, content, rte: false }),
          callEnd(),
        );
      },
      toolStart(call) {
        toolCallId = ids.id('call_fake');
        const [toolName, args] = nameAndInput(call);
        const request = { toolCallId, name: toolName, arguments: args, type: 'function' };
        const start = { toolCallId, toolName, arguments: args, turnId: turnId(), model };
        return lines(
          ...callStart(),
          message(ids.uuid(), '', [request]),
          event('tool.execution_start', start),
        );
      },
      toolEnd(call, end) {
        const data = { toolCallId, model, rte: false, ...reply(call, end) };
        return lines(event('tool.execution_complete', inCall(data)), callEnd());
      },
      echo: (text) => lines(userMessage(text)),
      error: (error) =>
        lines(
          ...callStart(),
          passing('model.call_failure', callFailure(error)),
          callEnd(),
          event('session.error', {
            errorType: 'query',
            message: `${error.status} ${error.message}`,
            statusCode: error.status,
            originatingMessageId,
          }),
        ),
      result: ({ ok }) => lines(passing('assistant.idle', {}), resultEvent(ok, ids)),
    };
  },
};

/** Makes the events of one turn: each names the one before it, but for the passing ones. */
function createEvents(ids: Ids) {
  const interactionId = ids.uuid();
  const originatingMessageId = ids.uuid();
  let parentId = ids.uuid();
  let calls = 0;

  const turnId = () => `${calls}`;
  const create = (type: string, data: object, fields: object) => ({
    type,
    data,
    ...fields,
    id: ids.uuid(),
    timestamp: new Date(ids.time()).toISOString(),
    parentId,
  });
  const event = (type: string, data: object) => {
    const created = create(type, data, {});
    parentId = created.id;
    return created;
  };
  const passing = (type: string, data: object) => create(type, data, { ephemeral: true });
  const inCall = (data: object) => ({ ...data, interactionId, turnId: turnId() });
  return {
    originatingMessageId,
    turnId,
    event,
    passing,
    inCall,
    userMessage: (content: string) =>
      event(
        'user.message',
        inCall({
          content,
          transformedContent: content,
          messageId: originatingMessageId,
          supportedNativeDocumentMimeTypes: [],
          delivery: 'idle',
        }),
      ),
    message(messageId: string, content: string, toolRequests: readonly object[]) {
      const data = { messageId, originatingMessageId, model, content, toolRequests, rte: false };
      return event('assistant.message', inCall(data));
    },
    callStart: () => [
      event('assistant.turn_start', inCall({})),
      passing('model.call_start', { turnId: turnId(), model }),
    ],
    callEnd() {
      const end = event('assistant.turn_end', { turnId: turnId() });
      calls += 1;
      return end;
    },
  };
}

function callFailure(error: ApiError): object {
  const { type, code } = openAiError(error);
  return {
    model,
    statusCode: error.status,
    failureKind: 'api',
    errorMessage: JSON.stringify(openAiError(error)),
    errorCode: code,
    errorType: type,
  };
}

function resultEvent(ok: boolean, ids: Ids): object {
  return {
    type: 'result',
    timestamp: new Date(ids.time()).toISOString(),
    sessionId: ids.session,
    exitCode: ok ? 0 : 1,
    usage: {
      premiumRequests: 0,
      totalApiDurationMs: 100,
      sessionDurationMs: 200,
      codeChanges: { linesAdded: 0, linesRemoved: 0, filesModified: [] },
    },
  };
}

function nameAndInput(call: ToolCall): [name: string, input: object] {
  if (call.kind === 'shell') return ['bash', { command: call.command, description: 'Run a command' }];
  if (call.kind === 'write') return ['create', { path: call.path, file_text: call.content }];
  return [call.name, call.input];
}

/** A command that exits with 3 is a success; its exit code is beside it. */
function reply(call: ToolCall, { output, ok, exitCode }: ToolEnd): object {
  if (exitCode !== undefined) {
    const content = `${output}<shellId: 0 completed with exit code ${exitCode}>`;
    return { shellExecution: { exitCode }, success: true, result: { content, detailedContent: content } };
  }
  if (!ok) return { success: false, error: { message: output, code: 'failure' } };
  if (call.kind !== 'write') return { success: true, result: { content: output, detailedContent: output } };
  const content = `Created file ${call.path} with ${call.content.length} characters`;
  const kind = call.existed ? 'edit' : 'create';
  return {
    fileEdits: [{ path: call.path, kind }],
    success: true,
    result: { content, detailedContent: content },
  };
}
