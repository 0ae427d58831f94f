import { runCommand } from '../process/process.ts';
import { cleanEnvironment, type Environment, findProgram } from '../process/program.ts';

/** Opens an address in the user's browser, if it can; the address is printed anyhow. */
export async function openInBrowser(url: string, cwd: string, variables: Environment): Promise<void> {
  const env = cleanEnvironment(variables, cwd);
  const words = { darwin: ['open'], win32: ['rundll32', 'url.dll,FileProtocolHandler'] }[
    process.platform as string
  ] ?? ['xdg-open'];
  const [program = '', ...args] = words;
  const isBlind = process.platform === 'linux' && !env.DISPLAY && !env.WAYLAND_DISPLAY;
  if (isBlind || findProgram(program, env) === null) return;
  await runCommand([program, ...args, url], { cwd: '/', env, timeoutMs: 10_000 }).catch(() => {});
}
