import { readArgs } from '../argv.ts';
import { DECODED, UNKNOWN } from '../marks.ts';
import type { Handler, Handlers } from '../model.ts';
import { always, byName, when } from './rules.ts';

const keychain: Handler = (call) => {
  if (/^(add-trusted-cert|delete-certificate|delete-keychain)$/.test(call.words[0] ?? ''))
    call.deny('system-config', 'changes which certificates the machine trusts');
  if (/^(find-\w+-password|dump-keychain|export)/.test(call.words[0] ?? ''))
    call.deny('credentials', 'reads the keychain');
};

const gpg: Handler = (call) => {
  const args = readArgs(call.words, 'oru', 'output');
  for (const path of args.all('o', 'output')) if (path !== '-') call.file('write', path);
  if (args.has('export-secret-keys', 'export-secret-subkeys'))
    call.deny('credentials', 'prints a private key', 'It need not be seen.');
  if (args.has('delete-secret-keys', 'delete-secret-and-public-key', 'delete-secret-key'))
    call.deny('destructive-files', 'deletes a private key');
  return args.has('d', 'decrypt') ? DECODED : UNKNOWN;
};

const capture: Handler = (call) => {
  call.warn('process', 'watches other programs or the network', 'Look at the output of your own program.');
};

const open: Handler = () => UNKNOWN;

/** Stored passwords and keys, and what listens to other programs. */
export const keys: Handlers = byName({
  security: keychain,
  'secret-tool': when(
    /^(lookup|search)/,
    'credentials',
    'reads the keyring',
    'Let the program that needs it ask for it.',
  ),
  pass: when(
    /^(show|-c|[\w/]+$)/,
    'credentials',
    'prints a stored password',
    'Let the program that needs it ask for it.',
  ),
  op: when(
    /^(read|item get|document get)/,
    'credentials',
    'prints a stored password',
    'Let the program that needs it ask for it.',
  ),
  bw: when(
    /^(get|export|list)/,
    'credentials',
    'prints stored passwords',
    'Let the program that needs it ask for it.',
  ),
  vault: when(
    /^(kv get|read|token|delete|kv (delete|destroy|metadata delete)|secrets disable|operator (seal|rekey|step-down))/,
    'credentials',
    'prints or deletes a stored secret',
    'Let the program that needs it ask for it.',
  ),
  'gpg gpg2': gpg,
  'ssh-copy-id': always('persistence', 'lets this key into another machine'),
  'ssh-keygen': (call) => {
    const args = readArgs(call.words, 'fNtbCP');
    const file = args.value('f');
    if (file !== undefined && args.has('t')) call.file('write', file);
  },
  'ssh-keyscan ssh-add': open,
  'tcpdump strace nmap': capture,
  gcore: always('credentials', 'reads the memory of another program'),
});
