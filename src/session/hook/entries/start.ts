import { join } from 'node:path';
import { stateFolder } from '../../../store/paths.ts';
import { useCompileCache } from '../../../system/compile-cache.ts';

/**
 * `node start.cjs EVENT [HOST]` runs the built file of the event, as if that had been started itself. The compile cache
 * only holds files that are loaded after it is switched on.
 */
const [, , event = ''] = process.argv;
const file = join(__dirname, `${event}.cjs`);
useCompileCache(stateFolder(process.env));
process.argv.splice(1, 2, file);
require(file);
