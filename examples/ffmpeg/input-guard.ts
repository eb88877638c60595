/**
 * What every reader of an input gets: no protocol but `file`, and no format that can name other
 * files (HLS, DASH, concat, image sequences). The lists also bind what a container embeds.
 */
export const GUARDED_INPUT: readonly string[] = [
  '-protocol_whitelist',
  'file',
  '-format_whitelist',
  'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,flv,avi,wav,mp3,ogg,aac,flac',
];
