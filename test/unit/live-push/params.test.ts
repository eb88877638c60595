/** What a push may be asked for, where it may go, and that no secret is shown. */
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { expect } from 'chai';
import { decodeArguments, sendArguments } from '../../../examples/live-push/commands.ts';
import { parseParams } from '../../../examples/live-push/params.ts';
import { RawFormat } from '../../../examples/live-push/raw-format.ts';
import { fileSink, problemOfUrl, urlSink } from '../../../examples/live-push/sink.ts';

const least = { url: 'rtmp://live.example.com/app/key', starts_at: 1e12, main: 'class.mp4' };

describe('the params of a push', () => {
  it('are few, and the rest is what is usual', () => {
    expect(parseParams(least)).to.deep.equal({
      ...least,
      resolution: '1280x720',
      frameRate: 25,
      videoKbps: 1843,
      audioKbps: 128,
    });
    const { starts_at } = parseParams({ ...least, starts_at: '2027-01-31T19:00:00+08:00' });
    expect(starts_at).to.equal(Date.UTC(2027, 0, 31, 11));
  });

  for (const [what, given, says] of [
    ['no end to send to', { url: undefined }, 'url: expected either url or path'],
    ['two of them', { path: 'a.flv' }, 'url: expected either url or path'],
    ['a time without a zone', { starts_at: '2027-01-31T19:00:00' }, 'starts_at: expected ISO 8601'],
    ['an end before the beginning', { ends_at: 5 }, 'ends_at: expected an instant later than'],
    ['an input that is a URL', { main: 'http://a/b.mp4' }, 'main: expected a path, not a URL'],
    ['a rate of films', { video: { frame_rate: 23 } }, 'video.frame_rate: expected one of 10, 12'],
    ['too large a picture', { video: { resolution: '3840x2160' } }, 'expected up to 1920x1088'],
    ['an odd one', { video: { resolution: '321x180' } }, 'expected an even width'],
    ['what nobody knows', { loop: true }, 'Unrecognized key'],
    [
      'a file of no kind',
      { url: undefined, path: 'a.exe' },
      'path: expected a name ending in .flv',
    ],
  ] as const) {
    it(`are refused with ${what}`, () => {
      expect(() => parseParams({ ...least, ...given })).to.throw(NonRetryableError, says);
    });
  }
});

describe('where a push goes', () => {
  it('is a URL that can be read in one way only', () => {
    for (const url of [
      'rtmp://h/app/key',
      'rtmps://live.example.com:443/app/sub/key?txSecret=ab&txTime=6',
      'rtmp://[::1]:1935/a/b',
      'srt://h:9000?streamid=publish:room&passphrase=0123456789',
    ]) {
      expect(problemOfUrl(url), url).to.equal(null);
    }
    for (const url of [
      'http://h/app/key',
      'rtmp://user@h/app/key',
      'rtmp://h@evil/app/key',
      'rtmp://h\\@evil/app/key',
      'rtmp://h/app',
      'rtmp://h/app/key listen=1',
      'rtmp://h/app/key\n',
      'rtmp://-h/app/key',
      'srt://h?streamid=a',
      'srt://h:1/path',
      'srt://h:1?mode=listener',
      'srt://h:1?passphrase=short',
      'tee:rtmp://h/a/b',
    ]) {
      expect(problemOfUrl(url), url).to.be.a('string');
    }
  });

  it('is a host that was allowed, or one of its ports', () => {
    const allowed = new Set(['live.example.com', 'b:1935']);
    expect(urlSink('RTMP://Live.Example.com:99/app/key', allowed).target).to.equal(
      'rtmp://live.example.com:99/app/key',
    );
    expect(urlSink('rtmp://b:1935/app/key', allowed).muxer).to.equal('flv');
    for (const url of ['rtmp://b/app/key', 'rtmp://b:1936/a/k', 'rtmp://x.live.example.com/a/k']) {
      expect(() => urlSink(url, allowed)).to.throw(NonRetryableError, 'is not among the hosts');
    }
  });

  it('is shown without its secrets', () => {
    const rtmp = urlSink('rtmp://h/app/room/key-1?sign=abcdef', new Set(['h']));
    expect(rtmp.shown).to.equal('rtmp://h/app/…');
    expect(rtmp.redact(`cannot open ${rtmp.target}`)).to.equal('cannot open rtmp://h/app/…?…');
    expect(rtmp.redact('Unexpected stream room/key-1')).to.equal('Unexpected stream …');
    const srt = urlSink('srt://h:9?streamid=abc&passphrase=0123456789', new Set(['h']));
    expect(srt.target).to.equal('srt://h:9');
    expect(srt.options.join(' ')).to.include(
      '-mode caller -srt_streamid abc -passphrase 0123456789',
    );
    expect(srt.redact('passphrase 0123456789 of abc')).to.equal('passphrase … of …');
  });
});

describe('the arguments of a push', () => {
  const format = new RawFormat('320x180', 15);
  const video = {
    codec: 'h264',
    width: 640,
    height: 360,
    frameRate: 25,
    closestRate: 25,
    rotation: 0,
  };
  const known = { pixelAspect: 1, pixelFormat: 'yuv420p', transfer: null, interlaced: false };
  const media = {
    seconds: 60,
    secondsAreGuessed: false,
    comment: null,
    video: { ...video, ...known, seconds: null },
    audio: null,
  };
  const input = { name: 'a.mp4', path: '/m/-a.mp4', bytes: 1, media, isStill: false };
  const decode = { format, isLooped: false, threads: 1 };

  it('begin an input where it has to, behind its guards', () => {
    const args = decodeArguments(input, { ...decode, fromSeconds: 61.2 }).join(' ');
    expect(args).to.match(/-protocol_whitelist file .* -ss 61\.200000 -i file:\/m\/-a\.mp4 /);
    expect(args).to.include('fps=fps=15:start_time=0,format=yuv420p');
    expect(args, 'it has no sound').not.to.include('pipe:4');
    const looped = { ...decode, isLooped: true, fromSeconds: 0 };
    expect(decodeArguments(input, looped).join(' ')).to.include('-stream_loop -1 -i');
    const still = decodeArguments({ ...input, isStill: true }, looped).join(' ');
    expect(still).to.include('-format_whitelist png_pipe,jpeg_pipe').and.to.include('loop=loop=-1');
  });

  it('of the sender never write over a file, and take all that is sent from the list', () => {
    const encode = { format, videoKbps: 500, audioKbps: 64, threads: null };
    const args = sendArguments(fileSink('out/a.ts', '/m/out/a.ts'), encode);
    expect(args.slice(-4)).to.deep.equal(['-n', '-f', 'mpegts', 'file:/m/out/a.ts']);
    expect(args.join(' ')).to.include('-g 30 -keyint_min 30 -sc_threshold 0 -b:v 500k');
  });
});
