import type { TodoItem } from '../../agents/adapter.ts';
import { type AgentFormat, silent, type ToolCall, type ToolEnd } from './format.ts';

/** Any other command: plain text without events. Output of tools is part of the agent's text. */
export const custom: AgentFormat = {
  version: '1.0.0',
  streamWords: [],
  exitCode: () => 1,
  open: () => ({
    ...silent,
    text: (parts) => `${parts.join('')}\n`,
    toolStart: (call) => `$ ${title(call)}\n`,
    toolEnd: (_call, end) => paragraph(end),
    todo: (items) => items.map(checkbox).join(''),
    echo: (prompt) => `${prompt}\n`,
    error: (error) => `Error: ${error.status} ${error.message}\n`,
    result: () => '',
  }),
};

function title(call: ToolCall): string {
  if (call.kind === 'shell') return call.command;
  return call.kind === 'write' ? `write ${call.path}` : call.name;
}

function paragraph({ output }: ToolEnd): string {
  return output === '' || output.endsWith('\n') ? output : `${output}\n`;
}

function checkbox({ text, status }: TodoItem): string {
  return `- [${status === 'done' ? 'x' : ' '}] ${text}\n`;
}
