import type { Code } from './code.ts';

/** Functions that reckon, read or print, whatever they are called with. */
const harmless = new Set([
  ...['print', 'load', 'loads', 'dumps', 'len', 'range', 'str', 'int', 'float', 'bool', 'list', 'dict'],
  ...[
    'set',
    'tuple',
    'sorted',
    'sum',
    'min',
    'max',
    'abs',
    'round',
    'enumerate',
    'zip',
    'any',
    'all',
    'repr',
  ],
  ...['keys', 'values', 'items', 'join', 'split', 'strip', 'lower', 'upper', 'startswith', 'endswith'],
  ...[
    'log',
    'error',
    'parse',
    'stringify',
    'slice',
    'trim',
    'includes',
    'toString',
    'toFixed',
    'Number',
    'String',
  ],
]);

/** Something that is called by more than a name, or later, or that goes round. */
const unclear =
  /[\])`@.]\s{0,9}\(|\s{10}\(|[`@]|=>|\b(?:while|for|def|class|lambda|function|async|await|exec|eval)\b/;

/** Whether code calls nothing but these: most one-liners look something up and print it. */
export function onlyLooks({ language, masked }: Code): boolean {
  if ((language !== 'python' && language !== 'js') || unclear.test(masked)) return false;
  for (let at = masked.indexOf('('); at !== -1; at = masked.indexOf('(', at + 1)) {
    const chain = /[\w$.]*$/.exec(masked.slice(Math.max(0, at - longestName), at).trimEnd())?.[0] ?? '';
    const name = chain.slice(chain.lastIndexOf('.') + 1);
    // To open is to open a file only where nothing stands before it.
    if (chain !== '' && chain !== 'open' && !harmless.has(name)) return false;
  }
  return true;
}

const longestName = 60;
