import type { Notice } from '../../core/notice.ts';
import type { Environment } from '../process/program.ts';

/** Returns the sequence that asks a terminal for a desktop notice; terminals that do not know it show nothing. */
export function terminalNotice(notice: Pick<Notice, 'title' | 'body'>, env: Environment): string {
  return throughMultiplexer(sequenceFor(notice, env), env);
}

function sequenceFor({ title, body }: Pick<Notice, 'title' | 'body'>, env: Environment): string {
  const { TERM = '', KITTY_WINDOW_ID, VTE_VERSION } = env;
  if (KITTY_WINDOW_ID || TERM === 'xterm-kitty') {
    return `\x1b]99;i=ralph:d=0;${title}\x1b\\\x1b]99;i=ralph:p=body;${body}\x1b\\`;
  }
  // Semicolons separate the fields.
  const field = (text: string) => text.replaceAll(';', ',');
  if (VTE_VERSION || /^(rxvt|foot)/.test(TERM)) return `\x1b]777;notify;${field(title)};${field(body)}\x1b\\`;
  return `\x1b]9;${title}${body === '' ? '' : `: ${body}`}\x07`;
}

/** Wraps the sequence for tmux, which passes it on if `allow-passthrough` is set. */
function throughMultiplexer(sequence: string, env: Environment): string {
  if (!env.TMUX) return sequence;
  return `\x1bPtmux;${sequence.replaceAll('\x1b', '\x1b\x1b')}\x1b\\`;
}
