import { messageOf } from '../../core/error.ts';
import type { Notice } from '../../core/notice.ts';
import { runCommand } from '../process/process.ts';
import { outsideOf, wordOfProject } from './check.ts';
import {
  type Channel,
  channelsOf,
  type Delivery,
  type NotifySettings,
  type NotifyWorld,
} from './delivery.ts';
import { showOnDesktop } from './desktop.ts';
import { findSendmail, mailOf } from './email.ts';
import { servicePost } from './presets.ts';
import { postJson, postNotice } from './webhook.ts';

/** Sends a notice by every channel that is set up, unless the user does not want this kind. Never rejects. */
export async function sendNotice(
  notice: Notice,
  settings: NotifySettings,
  world: NotifyWorld,
): Promise<Delivery[]> {
  if (!settings.on.includes(notice.kind)) return [];
  return Promise.all(channelsOf(settings).map((channel) => sendBy(channel, notice, settings, world)));
}

/** Sends a notice by one channel, whatever its kind. */
export async function sendBy(
  channel: Channel,
  notice: Notice,
  settings: NotifySettings,
  world: NotifyWorld,
): Promise<Delivery> {
  try {
    return { channel, ...(await deliver(channel, notice, settings, world)) };
  } catch (error) {
    return { channel, ok: false, detail: messageOf(error) };
  }
}

type Sent = Omit<Delivery, 'channel'>;

async function deliver(
  channel: Channel,
  notice: Notice,
  settings: NotifySettings,
  world: NotifyWorld,
): Promise<Sent> {
  if (channel === 'bell') {
    if (world.terminal === null) return { ok: false, detail: 'there is no terminal here' };
    world.terminal('\x07');
    return { ok: true, detail: 'rung' };
  }
  if (channel === 'desktop') return showOnDesktop(notice, outsideOf(world));
  if (channel === 'command') return runUserCommand(notice, settings.command, world);
  const address = settings[channel];
  if (address === undefined) return { ok: false, detail: `notify.${channel} is not set` };
  if (channel === 'email') return sendMail(notice, address, outsideOf(world));
  // A hook starts without them, as they slow Node down.
  const certificates = world.env.NODE_EXTRA_CA_CERTS;
  if (channel === 'webhook')
    return postNotice(notice, { url: address, certificates, secret: settings.secret }, world);
  const { url, body } = servicePost(channel, address, notice);
  return postJson(body, { url, certificates }, world);
}

async function sendMail(notice: Notice, to: string, world: NotifyWorld): Promise<Sent> {
  const program = findSendmail(world.env);
  if (program === null) return { ok: false, detail: 'there is no sendmail on this machine' };
  return runProgram([program, '-i', '--', to], mailOf(notice, to), world);
}

async function runUserCommand(
  notice: Notice,
  command: NotifySettings['command'],
  world: NotifyWorld,
): Promise<Sent> {
  const [program, ...words] = command ?? [];
  if (program === undefined) return { ok: false, detail: 'notify.command is not set' };
  // Again: the settings of a worker are read when it ends.
  if (world.sandboxed && wordOfProject([program, ...words], world) !== null)
    return { ok: false, detail: 'notify.command is in the project, which the agent can change' };
  const { env, ...outside } = outsideOf(world);
  const { kind, title, body, run } = notice;
  const facts = {
    RALPH_NOTICE_KIND: kind,
    RALPH_NOTICE_TITLE: title,
    RALPH_NOTICE_BODY: body,
    RALPH_NOTICE_RUN: run,
  };
  const stdin = `${JSON.stringify({ v: 1, ...notice })}\n`;
  return runProgram([program, ...words], stdin, { ...outside, env: { ...env, ...facts } });
}

const commandMs = 10_000;

async function runProgram(
  argv: readonly [string, ...string[]],
  stdin: string,
  { cwd, env, stop }: Pick<NotifyWorld, 'cwd' | 'env' | 'stop'>,
): Promise<Sent> {
  const end = await runCommand(argv, { cwd, env, stdin, stop, timeoutMs: commandMs, maxBytes: 4096 });
  if (end.error) return { ok: false, detail: end.error.message };
  if (end.timedOut) return { ok: false, detail: `stopped after ${commandMs / 1000} s` };
  return { ok: end.exitCode === 0, detail: `exit code ${end.exitCode ?? end.signal}` };
}
