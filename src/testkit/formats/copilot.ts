import { openAiError } from './api-error.ts';
import { type AgentFormat, createIds, lines, type ToolCall, type ToolEnd } from './format.ts';

const model = 'fake-model';

/** `copilot -p --output-format json`, as 1.0.102 prints it: deltas, then the whole message; no tokens anywhere. */
export const copilot: AgentFormat = {
  version: "GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.",
  streamWords: ['json'],
  exitCode: () => 1,
  open({ prompt, turn }) {
    const ids = createIds(turn);
    const interactionId = ids.uuid();
    const originatingMessageId = ids.uuid();
    let parentId = ids.uuid();
    let calls = 0;
    let toolCallId = '';

    const turnId = () => `${calls}`;
    const event = (type: string, data: object, ephemeral: { ephemeral?: true } = {}) => {
      const id = ids.uuid();
      const made = { type, data, ...ephemeral, id, timestamp: new Date(ids.time()).toISOString(), parentId };
      if (ephemeral.ephemeral !== true) parentId = id;
      return made;
    };
    const passing = (type: string, data: object) => event(type, data, { ephemeral: true });
    const userMessage = (content: string) =>
      event('user.message', {
        content,
        transformedContent: content,
        messageId: originatingMessageId,
        supportedNativeDocumentMimeTypes: [],
        delivery: 'idle',
        interactionId,
        turnId: turnId(),
      });
    const callStart = () => [
      event('assistant.turn_start', { turnId: turnId(), interactionId }),
      passing('model.call_start', { turnId: turnId(), model }),
    ];
    const callEnd = () => {
      const ended = event('assistant.turn_end', { turnId: turnId() });
      calls += 1;
      return ended;
    };
    const message = (messageId: string, content: string, toolRequests: object[]) =>
      event('assistant.message', {
        messageId,
        originatingMessageId,
        model,
        content,
        toolRequests,
        interactionId,
        turnId: turnId(),
        rte: false,
      });

    return {
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
        return lines(
          ...callStart(),
          message(ids.uuid(), '', [request]),
          event('tool.execution_start', { toolCallId, toolName, arguments: args, turnId: turnId(), model }),
        );
      },
      toolEnd: (call, end) =>
        lines(
          event('tool.execution_complete', {
            toolCallId,
            model,
            interactionId,
            turnId: turnId(),
            rte: false,
            ...reply(call, end),
          }),
          callEnd(),
        ),
      todo: () => '',
      subagent: () => '',
      echo: (text) => lines(userMessage(text)),
      error(error) {
        const { type, code } = openAiError(error);
        return lines(
          ...callStart(),
          passing('model.call_failure', {
            model,
            statusCode: error.status,
            failureKind: 'api',
            errorMessage: JSON.stringify(openAiError(error)),
            errorCode: code,
            errorType: type,
          }),
          callEnd(),
          event('session.error', {
            errorType: 'query',
            message: `${error.status} ${error.message}`,
            statusCode: error.status,
            originatingMessageId,
          }),
        );
      },
      result: ({ ok }) =>
        lines(passing('assistant.idle', {}), {
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
        }),
    };
  },
};

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
