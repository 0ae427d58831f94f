export const categories = [
  'destructive-files',
  'disk',
  'exhaustion',
  'exfiltration',
  'remote-shell',
  'credentials',
  'privilege',
  'container',
  'supply-chain',
  'remote-code',
  'git',
  'system-config',
  'obfuscation',
  'environment',
  'process',
  'persistence',
  'database',
  'cloud',
  'sensitive-path',
  'loop-state',
  'agent-settings',
  'git-hooks',
  'unparsable',
  'policy',
] as const;
export type Category = (typeof categories)[number];

export const askPerson = 'Leave it to a person.';

const remedies: Readonly<Partial<Record<Category, string>>> = {
  exfiltration: 'Keep it on this machine; a person can send it.',
  credentials: 'Let the program that needs it ask for it.',
  'remote-code': 'Download it to a file and read it first.',
  obfuscation: 'Write it out in plain text.',
  process: 'End the process that you started, by its id.',
  database: 'Work on a database of your own whose name says test.',
  'git-hooks': 'Leave the configuration and the hooks of git as they are.',
};

export function remedyOf(category: Category): string {
  return remedies[category] ?? askPerson;
}
