import { join } from 'node:path';
import { useCodeCache } from '../../system/code-cache.ts';

/** The stop hook as a program. It runs at the end of every turn, so that it pays to keep its code compiled. */
const { load, keep } = useCodeCache(require);
const { worked } = load(join(__dirname, 'stop-main.cjs')) as { readonly worked: Promise<boolean> };

// Where there was nothing to do, most of the code has not been compiled.
void worked.then((any) => any && keep());
