import type { Notice } from '../../core/notice.ts';
import { type Environment, findProgram } from '../process/program.ts';
import { noticeLines } from './presets.ts';

/** Returns the program that takes mail, on the PATH or at its usual places; null without one. */
export function findSendmail(env: Environment): string | null {
  const places = ['sendmail', '/usr/sbin/sendmail', '/usr/lib/sendmail'];
  return places.map((place) => findProgram(place, env)).find((path) => path !== null) ?? null;
}

/** Makes the message for sendmail. No text of a notice has a line break, so none can add a header. */
export function mailOf(notice: Notice, to: string): string {
  // RFC 2047: a header is ASCII, and an encoded word of it has at most 75 characters.
  const words = notice.title.match(/.{1,10}/gsu) ?? [];
  const encoded = words.map((word) => `=?utf-8?B?${Buffer.from(word).toString('base64')}?=`);
  return [
    `To: ${to}`,
    `Subject: ${/^[ -~]*$/.test(notice.title) ? notice.title : encoded.join('\n ')}`,
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    ...(Buffer.from(`${noticeLines(notice).join('\n')}\n`)
      .toString('base64')
      .match(/.{1,76}/g) ?? []),
    '',
  ].join('\n');
}
