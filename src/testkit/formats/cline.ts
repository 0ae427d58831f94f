import { type AgentFormat, allInput, type ToolEnd } from './format.ts';

/** `cline --json`, as 3.0.65 prints it: an event in an event, and `run_result` at the end. */
export const cline: AgentFormat = {
  version: '3.0.65',
  streamWords: ['--json'],
  tools: { shell: ['run_commands', 'commands'], write: ['editor', 'path', 'new_text'] },
  exitCode: () => 1,
  open({ ids, usageOnce }) {
    const event = (type: string, fields: object) => ({ ts: ids.timestamp(), type, ...fields });
    const inner = (type: string, fields: object) => event('agent_event', { event: { type, ...fields } });
    const usageEvent = () => {
      const usage = usageOnce();
      return inner('usage', {
        inputTokens: allInput(usage),
        outputTokens: usage.outputTokens,
        cacheReadTokens: usage.cacheReadTokens,
      });
    };

    return {
      text: (parts) => [
        ...parts.map((text) => inner('content_start', { contentType: 'text', text })),
        usageEvent(),
        inner('content_end', { contentType: 'text', text: parts.join('') }),
      ],
      toolStart({ id, kind, name, input, subject }) {
        const fields = { input: kind === 'shell' ? { commands: [subject] } : input };
        const tool = { contentType: 'tool', toolName: name, toolCallId: id };
        return [usageEvent(), inner('content_start', { ...tool, ...fields })];
      },
      toolEnd: ({ id, name, subject }, end) => [
        inner('content_end', {
          contentType: 'tool',
          toolName: name,
          toolCallId: id,
          ...reply(subject, end),
        }),
      ],
      error: ({ message }) => [
        inner('error', {
          error: { name: 'Error', message },
          errorClass: 'unknown',
          recoverable: false,
        }),
      ],
      result: ({ ok, usage, text }) => [
        event('run_result', {
          text,
          finishReason: ok ? 'completed' : 'error',
          aggregateUsage: { totalCost: usage.costUsd ?? 0 },
        }),
      ],
    };
  },
};

function reply(query: string, { output, ok, exitCode }: ToolEnd): object {
  if (exitCode === undefined)
    return ok
      ? { output: { query, result: output, success: true } }
      : { output: { error: output }, error: output };
  if (exitCode === 0) return { output: [{ query, result: output, success: true }] };
  const error = `Command exited with code ${exitCode}`;
  return { output: [{ query, result: `[${error}]\n${output}`, error, success: false }] };
}
