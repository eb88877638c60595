/** An instant by the clocks of the zone of a trigger, which is named where it is not that of the browser, and how far it is. */
import { useFrame } from '../../frame/context.ts';
import { Time } from '../../parts/time.tsx';
import { clockIn } from './month/zones.ts';
import { ownZone } from './trigger-words.ts';

interface Props {
  readonly at: string | null;
  readonly zone: string;
}

export function Zoned({ at, zone }: Props) {
  const { hasClockTimes } = useFrame();
  const own = ownZone();
  if (at === null) return <span class="none">–</span>;
  return (
    <span title={`${clockIn(own, at)} ${own} · ${at}`}>
      {clockIn(zone, at)} {zone !== own && <small>{zone} </small>}
      {!hasClockTimes && (
        <small>
          <Time at={at} />
        </small>
      )}
    </span>
  );
}
