import { join } from 'node:path';

/**
 * Lets Node keep what V8 compiles of the files that are loaded from now on; Node 20 cannot. The cache is in the state
 * folder of Ralph and not in Node's usual place below /tmp: whoever can write it can run code as us, and the guard and
 * the sandboxes keep agents out of the state folder.
 */
export function useCompileCache(stateFolder: string): void {
  const module = process.getBuiltinModule('node:module');
  if ('enableCompileCache' in module && typeof module.enableCompileCache === 'function')
    module.enableCompileCache(join(stateFolder, 'compile-cache'));
}
