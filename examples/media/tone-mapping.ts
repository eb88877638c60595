/** Whether this ffmpeg can bring HDR to an ordinary screen: not every build has what it takes. */
import { NonRetryableError } from '@soda-scheduler/executor-sdk';
import { runChild } from './child-process.ts';
import type { ChildLimits } from './attempt/run-ffmpeg.ts';

/** @throws {NonRetryableError} where it cannot. */
export async function assertToneMapping(ffmpeg: string, limits: ChildLimits): Promise<void> {
  let filters = '';
  const onStdout = (text: string) => {
    filters += text;
    return true;
  };
  const end = await runChild(ffmpeg, ['-hide_banner', '-filters'], { ...limits, onStdout });
  if (end.why === 'aborted') throw limits.signal.reason;
  if (/ zscale /.test(filters) && / tonemap /.test(filters)) return;
  throw new NonRetryableError(
    'the input is HDR and an output is to have 8 bits: this ffmpeg cannot map its colours ' +
      '(it was built without zscale or tonemap). Ask for h265 or vp9, which keep them.',
  );
}
