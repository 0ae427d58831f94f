import type { Environment } from '../../os/process/program.ts';

/** Returns the environment for programs of the user, without the changes that gate.sh made for our own node. */
export function userEnvironment(env: Environment): Environment {
  const { RALPH_CA_CERTS: certificates, RALPH_COMPILE_CACHE: cache, ...others } = env;
  if (certificates === undefined || cache === undefined) return others;
  return {
    ...others,
    NODE_EXTRA_CA_CERTS: certificates || undefined,
    NODE_COMPILE_CACHE: cache || undefined,
  };
}
