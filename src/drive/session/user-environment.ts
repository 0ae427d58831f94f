import type { Environment } from '../../os/process/program.ts';

/** The environment for programs of the user, with the variables as they were before gate.sh set them for our own node. */
export function userEnvironment(env: Environment): Environment {
  const { RALPH_CA_CERTS: certificates, RALPH_COMPILE_CACHE: cache, ...others } = env;
  if (certificates === undefined || cache === undefined) return others;
  return {
    ...others,
    NODE_EXTRA_CA_CERTS: certificates || undefined,
    NODE_COMPILE_CACHE: cache || undefined,
  };
}
