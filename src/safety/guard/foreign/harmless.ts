import type { Code } from './code.ts';

/** Functions that reckon, read or print, whatever they are called with. */
const harmless = new Set(
  `
    print load loads dumps len range str int float bool list dict set tuple sorted sum min max abs round
    enumerate zip any all repr type isinstance ord hex bin keys values items join split splitlines strip rstrip
    lstrip lower upper title startswith endswith count index append getcwd exists isfile isdir basename cwd
    homedir log info warn error parse stringify slice substring trim includes indexOf push concat toString
    toFixed toUpperCase toLowerCase padStart padEnd Number String Boolean parseInt parseFloat isArray now
    existsSync
  `.split(/\s+/),
);

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
