import { readArgs, readLeadingArgs } from '../argv.ts';
import type { Call, Handler, Handlers } from '../call.ts';
import { feed, joined, tryScript } from '../feed.ts';
import { isOpaque, NETWORK, parentProcess, show, UNKNOWN } from '../marks.ts';
import { hostOf, isLocal, sends } from './hosts.ts';
import { otherLanguage } from './other-languages.ts';
import { checkProcess } from './processes.ts';
import { byName } from './rules.ts';

const editorCalls =
  /\b(delete|rename|readfile|writefile)\(\s*(?:\[[^\]]*\]\s*,\s*)?(?:expand\()?["']([^"']+)["']/g;

function atHome({ shell }: Call, path: string): string {
  return path.replace(/^(~|\$HOME)(?=\/|$)/, shell.world.context.home);
}

function otherCode(call: Call, command: string): void {
  const [, language = '', code = ''] = /^:?(lua|python|py|perl|ruby)[3x]?\s+(.+)$/s.exec(command) ?? [];
  const start = language.startsWith('py') ? ['python3', '-c'] : [language, '-e'];
  if (code !== '') call.run([...start, code]);
}

const editor: Handler = (call) => {
  call.words.forEach((word, i) => {
    const before = call.words[i - 1] ?? '';
    const command = /^(-\w*c|--cmd|-S)$/.test(before) ? word : /^\+(.+)$/.exec(word)?.[1];
    const [, shellCommand] =
      /^(?:silent\s*|exe(?:cute)?\s*["']?)?[!]\s*(.+)$/s.exec(command ?? '') ??
      /^:?!(.+)$/s.exec(command ?? '') ??
      /\bsystem\(["'](.+)["']\)/.exec(command ?? '') ??
      [];
    if (shellCommand) call.script(shellCommand);
    otherCode(call, command ?? '');
    const [, target] = /^w!?\s+(\S+)/.exec(command ?? '') ?? [];
    if (target) call.file('write', atHome(call, target));
    for (const [, name = '', path = ''] of (command ?? '').matchAll(editorCalls)) {
      const kind = name === 'readfile' ? 'read' : name === 'writefile' ? 'write' : 'delete';
      call.file(kind, atHome(call, path), { recursive: true });
    }
  });
  const [, inside] = /^!(.+)$/m.exec(call.stdin ?? '') ?? [];
  if (call.name === 'ed' && inside) call.script(inside);
  const orders = [
    ...call.words.filter((_, i) => /^-\w*c$/.test(call.words[i - 1] ?? '')),
    ...call.words.flatMap((word) => /^-c(.+)$/s.exec(word)?.[1] ?? []),
    ...call.words.flatMap((word) => /^\+(.+)$/.exec(word)?.[1] ?? []),
    call.stdin ?? '',
  ];
  const saves = orders.some((text) => /(^|[|\n:])\s*(w|wq|x|wa|wqa|xa|up(date)?)!?\s*($|\n|\|)/.test(text));
  const opened = orders.flatMap(
    (text) => /^\s*:?(?:e|edit|sp|split|tabe|r|read)!?\s+([^\s!]+)/m.exec(text)?.[1] ?? [],
  );
  for (const path of opened) call.file(saves ? 'write' : 'read', atHome(call, path));
  for (const path of call.words)
    if (/[/~.]/.test(path) && !path.startsWith('-') && !path.startsWith('+') && !orders.includes(path))
      call.file(saves ? 'write' : 'read', path);
};

const lisp = otherLanguage();

const startsCommand =
  /^(new(-session|-window)?|neww|split(-window|w)?|respawn-(pane|window)|run(-shell)?|if(-shell)?|display-popup|popup|pipe-pane)$/;

export const terminals: Handlers = byName({
  'ssh mosh autossh': (call) => {
    const monitor = call.name === 'autossh' ? 'M' : '';
    const args = readLeadingArgs(call.words, `bcDEeFIiJLlmOopQRSWw${monitor}`);
    const [host = '', ...command] = args.rest;
    if (args.has('R'))
      call.deny('remote-shell', `opens a tunnel from ${host} into this machine`, 'Do not open tunnels.');
    if (args.has('w')) call.deny('remote-shell', `joins the network of ${host}`, 'Do not open tunnels.');
    if (args.has('D')) call.deny('remote-shell', `opens a proxy through ${host}`, 'Do not open tunnels.');
    for (const option of args.all('o')) {
      const [, proxy] = /^(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ](.*)$/i.exec(option) ?? [];
      if (proxy && proxy !== 'none') call.script(proxy);
    }
    const runsInput = /^(ba|z|da)?sh$/.test(command[0] ?? 'sh');
    if (call.stdin !== null && runsInput) feed(call, call.stdin, (text) => call.script(text));
    const local = /^([^@]*@)?(localhost|127\.0\.0\.1)$/.test(host);
    if (!local && call.stdin !== null) {
      sends(call, call.stdin, host);
      if (isOpaque(call.stdin) && !runsInput) call.deny('exfiltration', `sends data to ${show(host)}`);
    }
    if (command.length === 0) return UNKNOWN;
    if (!local) sends(call, command.join(' '), host);
    joined(call, command);
    return local ? UNKNOWN : NETWORK;
  },
  watch: (call) => {
    const { rest } = readLeadingArgs(call.words, 'nd', 'interval');
    return rest.length === 0 ? '' : joined(call, rest);
  },
  script: (call) => {
    const args = readArgs(call.words, 'cEIOBTm', 'command');
    for (const command of args.all('c', 'command')) call.script(command);
    for (const path of args.rest) call.file('write', path);
  },
  tmux: (call) => {
    const server = readLeadingArgs(call.words, 'LSfcT');
    const [action = '', ...words] = server.rest;
    const { rest } = readArgs(words, 'tsncFxyel');
    if (action === 'send-keys' || action === 'send') {
      const typed = rest.filter((word) => !/^(Enter|C-m|C-c|Escape|Space)$/.test(word)).join(' ');
      // Keys are not always a command: what does not parse is typed into some other program.
      if (/^[\w./~$("'-]+\s/.test(typed)) tryScript(call, typed);
      return '';
    }
    if (startsCommand.test(action)) for (const command of rest) tryScript(call, command);
    if (/^kill-(session|window|pane)$/.test(action)) {
      const args = readArgs(words, 't');
      checkProcess(call, (args.has('a') ? undefined : args.value('t')) ?? parentProcess);
    }
    // A server under a name of its own was started for the moment.
    if (/^kill-server$/.test(action) && server.all('L', 'S').length === 0)
      call.deny('process', 'ends every tmux session of the user', 'End the one session that you started.');
  },
  screen: (call) => {
    const args = readLeadingArgs(call.words, 'ScehptT');
    const [order = '', ...more] = args.rest;
    if (!args.has('X')) return order === '' ? UNKNOWN : call.run(args.rest);
    if (/^(quit|kill)$/.test(order)) checkProcess(call, args.value('S') ?? parentProcess);
    if (order === 'stuff') for (const typed of more) tryScript(call, typed);
  },
  'vim vi nvim ex ed nano': editor,
  emacs: (call) => {
    lisp(call);
    return editor(call);
  },
  xterm: (call) => {
    const display = call.words[call.words.indexOf('-display') + 1] ?? '';
    if (call.words.includes('-display') && /^[\w.-]+:\d/.test(display) && !isLocal(hostOf(display)))
      call.deny('remote-shell', `shows a shell on ${show(display)}`, 'Do not open tunnels.');
    const at = call.words.indexOf('-e');
    return at === -1 ? UNKNOWN : joined(call, call.words.slice(at + 1));
  },
  expect: (call) => {
    const code = readArgs(call.words, 'cf').value('c') ?? '';
    for (const [, command = ''] of code.matchAll(/\b(?:spawn|exec|system)\s+([^;\n]+)/g))
      call.script(command);
  },
  'gdb lldb': (call) => {
    call.words.forEach((word, i) => {
      const [, command] = /^(?:shell|!)\s*(.+)$/s.exec(word) ?? [];
      if (!/^-?-(ex|eval-command)$/.test(call.words[i - 1] ?? '')) return;
      if (command) call.script(command);
      otherCode(call, word);
    });
    const target = readArgs(call.words, 'p', 'pid').value('p', 'pid');
    if (target !== undefined) checkProcess(call, target);
    const at = call.words.indexOf('--args');
    return at === -1 ? UNKNOWN : call.run(call.words.slice(at + 1));
  },
  man: (call) => {
    const args = readArgs(call.words, 'PMSH', 'pager html');
    for (const program of args.all('P', 'pager', 'H', 'html')) call.script(program);
  },
});
