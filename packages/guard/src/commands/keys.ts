import { readArgs } from '../argv.ts';
import type { Handlers } from '../call.ts';
import { remedyOf } from '../categories.ts';
import { DECODED, UNKNOWN } from '../marks.ts';
import { always, byName, denying } from './rules.ts';

export const keys: Handlers = byName(
  denying(
    'credentials',
    'prints or deletes stored passwords',
    {
      security: /^(find-\w+-password|dump-keychain|export)/,
      'secret-tool': /^(lookup|search)/,
      pass: /^(show|-c|[\w/]+$)/,
      op: /^(read|item get|document get)/,
      bw: /^(get|export|list)/,
      vault:
        /^(kv get|read|token|delete|kv (delete|destroy|metadata delete)|secrets disable|operator (seal|rekey|step-down))/,
    },
    remedyOf('credentials'),
  ),
  denying('credentials', 'reads the memory of another program', { gcore: always }),
  denying('system-config', 'changes which certificates the machine trusts', {
    security: /^(add-trusted-cert|delete-certificate|delete-keychain)\b/,
  }),
  denying('persistence', 'lets this key into another machine', { 'ssh-copy-id': always }),
  {
    'gpg gpg2': (call) => {
      const args = readArgs(call.words, 'oru', 'output');
      for (const path of args.all('o', 'output')) if (path !== '-') call.file('write', path);
      if (args.has('export-secret-keys', 'export-secret-subkeys'))
        call.deny('credentials', 'prints a private key', 'It need not be seen.');
      if (args.has('delete-secret-keys', 'delete-secret-and-public-key', 'delete-secret-key'))
        call.deny('destructive-files', 'deletes a private key');
      return args.has('d', 'decrypt') ? DECODED : UNKNOWN;
    },
    'ssh-keygen': (call) => {
      const args = readArgs(call.words, 'fNtbCP');
      const file = args.value('f');
      if (file !== undefined && args.has('t')) call.file('write', file);
    },
    'ssh-keyscan ssh-add': () => UNKNOWN,
    'tcpdump nmap': (call) => {
      call.warn('process', 'watches the network', 'Look at the output of your own program.');
    },
  },
);
