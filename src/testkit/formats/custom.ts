import type { AgentFormat } from './format.ts';

/** Any other command: plain text without events. Output of tools is part of the agent's text. */
export const custom: AgentFormat = {
  version: '1.0.0',
  streamWords: [],
  tools: { shell: ['shell', 'command'], write: ['write', 'path', 'content'] },
  exitCode: () => 1,
  open: () => ({
    text: (parts) => [parts.join('')],
    toolStart: ({ kind, name, subject }) => [`$ ${kind === 'shell' ? subject : `${name} ${subject}`.trim()}`],
    toolEnd: (_call, { output }) => (output === '' ? [] : [output.replace(/\n$/, '')]),
    todo: (items) => items.map(({ text, status }) => `- [${status === 'done' ? 'x' : ' '}] ${text}`),
    echo: (prompt) => [prompt],
    error: (error) => [`Error: ${error.status} ${error.message}`],
    result: () => [],
  }),
};
