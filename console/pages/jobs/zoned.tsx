/** An instant by the clocks of the zone of a job, and how far it is. */
import { useFrame } from '../../frame/context.ts';
import { Time } from '../../parts/time.tsx';
import { language } from '../../words/words.ts';

interface Props {
  readonly at: string | null;
  readonly zone: string;
}

export function Zoned({ at, zone }: Props) {
  const { hasClockTimes } = useFrame();
  if (at === null) return <span class="none">–</span>;
  return (
    <span title={`${zone} · ${at}`}>
      {clockIn(zone, at)}{' '}
      {!hasClockTimes && (
        <small>
          <Time at={at} />
        </small>
      )}
    </span>
  );
}

/** `Mon 23 Nov 19:00` */
export function clockIn(zone: string, at: string): string {
  const date = new Date(at);
  const day = { weekday: 'short', day: 'numeric', month: 'short' } as const;
  const seconds = date.getUTCSeconds() === 0 ? {} : ({ second: '2-digit' } as const);
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...seconds } as const;
  const zoned = { timeZone: zone };
  return `${date.toLocaleDateString(language(), { ...day, ...zoned })} ${date.toLocaleTimeString(language(), { ...time, ...zoned })}`;
}
