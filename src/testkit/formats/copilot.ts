import { openAiError } from './api-error.ts';
import type { AgentFormat, ToolEnd } from './format.ts';

const model = 'fake-model';

/** `copilot -p --output-format json`, as 1.0.102 prints it: whole messages, and no tokens anywhere. */
export const copilot: AgentFormat = {
  version: "GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.",
  streamWords: ['json'],
  tools: { shell: ['bash', 'command'], write: ['create', 'path', 'file_text'] },
  exitCode: () => 1,
  open({ prompt, ids }) {
    const { timestamp } = ids;
    const event = (type: string, data: object) => ({ type, data, id: ids.uuid(), timestamp: timestamp() });
    const echo = (content: string) => [event('user.message', { content })];
    const message = (content: string, toolRequests: readonly object[] = []) =>
      event('assistant.message', { messageId: ids.uuid(), model, content, toolRequests });

    return {
      start: () => [event('session.tools_updated', { model }), ...echo(prompt)],
      text: (parts) => [message(parts.join(''))],
      thinking: (content) => [event('assistant.reasoning', { reasoningId: ids.uuid(), content })],
      toolStart({ id: toolCallId, name, input }) {
        const request = { toolCallId, name, arguments: input, type: 'function' };
        const start = { toolCallId, toolName: name, arguments: input, model };
        return [message('', [request]), event('tool.execution_start', start)];
      },
      toolEnd: ({ id: toolCallId }, end) => [
        event('tool.execution_complete', { toolCallId, model, ...reply(end) }),
      ],
      echo,
      error(error) {
        const { type, code } = openAiError(error);
        const failure = {
          errorMessage: JSON.stringify(openAiError(error)),
          errorCode: code,
          errorType: type,
        };
        const statusCode = error.status;
        return [
          event('model.call_failure', { model, statusCode, failureKind: 'api', ...failure }),
          event('session.error', {
            errorType: 'query',
            message: `${error.status} ${error.message}`,
            statusCode,
          }),
        ];
      },
      result: ({ ok }) => [
        { type: 'result', timestamp: timestamp(), sessionId: ids.session, exitCode: ok ? 0 : 1 },
      ],
    };
  },
};

/** A command that exits with 3 is a success; its exit code is beside it. */
function reply({ output, ok, exitCode }: ToolEnd): object {
  if (exitCode !== undefined) {
    const content = `${output}<shellId: 0 completed with exit code ${exitCode}>`;
    return { shellExecution: { exitCode }, success: true, result: { content } };
  }
  if (!ok) return { success: false, error: { message: output, code: 'failure' } };
  return { success: true, result: { content: output } };
}
