/**
 * Where a push goes: a server of RTMP or SRT on a host that the operator has allowed, or a file in the media root. Stream keys
 * and passphrases are secrets: nothing that people read has them. Pure.
 */
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { NonRetryableError } from '@soda-scheduler/executor-sdk';

export interface Sink {
  /** For people: without its secrets. */
  readonly shown: string;
  readonly muxer: 'flv' | 'mpegts' | 'matroska';
  /** Options of ffmpeg in front of the target. */
  readonly options: readonly string[];
  readonly target: string;
  /** The text without what is secret in it. */
  redact(text: string): string;
}

/**
 * A send that is stuck for so long ends the connection, so that it is made anew. It also bounds what a cut network may deliver
 * later: that is no more than the buffer of the socket.
 */
const STUCK_MS = 3_000;
const SEND_BUFFER_BYTES = 256 * 1024;
const CONNECTION = [
  ...['-rw_timeout', `${STUCK_MS * 1000}`],
  ...['-send_buffer_size', `${SEND_BUFFER_BYTES}`],
];

export const FILE_MUXERS = { '.flv': 'flv', '.ts': 'mpegts', '.mkv': 'matroska' } as const;

/** ffmpeg splits a URL by rules of its own: nothing is taken that other rules would split in another way. */
const URL_PATTERN =
  /^(rtmps?|srt):\/\/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::([1-9]\d{0,4}))?(\/[\w.~!$&'()*+,;=:%/-]*)?(?:\?([\w.~!$&'()*+,;=:%/?-]*))?$/i;

/** Of SRT, in the query; others could make ffmpeg listen, or write to another place. */
const SRT_OPTIONS = { streamid: [1, 512], passphrase: [10, 79] } as const;

/** Why the URL cannot be one; null: it can. Whether its host is allowed is not asked here. */
export function problemOfUrl(url: string): string | null {
  const parts = URL_PATTERN.exec(url);
  if (parts === null) {
    return 'expected rtmp://host/app/key, rtmps://host/app/key or srt://host:port?streamid=…, without user and password';
  }
  const [, scheme = '', , port, path = '', query = ''] = parts;
  if (scheme.toLowerCase() !== 'srt') {
    return /^\/[^/]+\/[^/]/.test(path) ? null : 'expected a path of an app and a stream key';
  }
  if (port === undefined) return 'expected a port, as in srt://host:9000';
  if (path.length > 1) return 'expected no path: the stream is named by ?streamid=…';
  for (const [name, value] of new URLSearchParams(query)) {
    const bounds = SRT_OPTIONS[name as keyof typeof SRT_OPTIONS] as
      | readonly [number, number]
      | undefined;
    if (bounds === undefined) return `expected streamid and passphrase only, not ${name}`;
    const [least, most] = bounds;
    if (value.length < least || value.length > most) {
      return `expected ${name} to have ${least} to ${most} characters`;
    }
  }
  return null;
}

/**
 * @param allowedHosts `host` or `host:port`, in lower case.
 * @throws {NonRetryableError} the host is not among them.
 */
export function urlSink(url: string, allowedHosts: ReadonlySet<string>): Sink {
  const [, scheme = '', host = '', port, path = '', query = ''] = URL_PATTERN.exec(url) ?? [];
  const protocol = scheme.toLowerCase();
  const name = host.toLowerCase();
  const place = port === undefined ? name : `${name}:${port}`;
  if (!allowedHosts.has(name) && !allowedHosts.has(place)) {
    throw new NonRetryableError(
      `url: ${place} is not among the hosts that this executor may push to`,
    );
  }
  if (protocol === 'srt') return srtSink(place, new URLSearchParams(query));
  const [, app = '', ...key] = path.split('/');
  const shown = `${protocol}://${place}/${app}/…`;
  return {
    shown,
    muxer: 'flv',
    // Of a stream there is nothing to go back to and complete.
    options: [...CONNECTION, '-flvflags', 'no_duration_filesize'],
    target: `${protocol}://${place}${path}${query === '' ? '' : `?${query}`}`,
    redact: redactor([key.join('/'), query]),
  };
}

function srtSink(place: string, query: URLSearchParams): Sink {
  // ffmpeg has another option that is called `streamid`.
  const named = [...query].flatMap(([name, value]) => [
    name === 'streamid' ? '-srt_streamid' : `-${name}`,
    value,
  ]);
  return {
    shown: `srt://${place}`,
    muxer: 'mpegts',
    options: [...CONNECTION.slice(0, 2), '-mode', 'caller', ...named],
    target: `srt://${place}`,
    redact: redactor([...query.values()]),
  };
}

/** @param path as the params name it, whose extension is one of `FILE_MUXERS`; `target`: the real file. */
export function fileSink(path: string, target: string): Sink {
  const extension = extname(path).toLowerCase() as keyof typeof FILE_MUXERS;
  return {
    shown: path,
    muxer: FILE_MUXERS[extension],
    options: ['-n'],
    target: `file:${target}`,
    redact: (text) => text,
  };
}

const NAMES_MAX = 1_000;

/**
 * The name itself, or `class.2.flv`, `class.3.flv` and so on: what another attempt or session has written stays.
 * @throws {NonRetryableError} all of them are taken.
 */
export function freeName(target: string): string {
  const extension = extname(target);
  const stem = target.slice(0, target.length - extension.length);
  for (let number = 1; number <= NAMES_MAX; number += 1) {
    const name = number === 1 ? target : `${stem}.${number}${extension}`;
    if (!existsSync(name)) return name;
  }
  throw new NonRetryableError(`path: there are ${NAMES_MAX} files of that name already`);
}

/** A secret of a letter or two would take the words out of what ffmpeg says. */
const SECRET_LENGTH_MIN = 3;

function redactor(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter(({ length }) => length >= SECRET_LENGTH_MIN);
  return (text) => known.reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
}
