/** Whatever changes something begins with a button: for whoever may, and with a question before it is done. */
import type { About, RouteName } from '../api/me.ts';
import { ask, type Question } from '../frame/asking.tsx';
import { useFrame } from '../frame/context.ts';

interface Props {
  /** Without the right to it there is no button. */
  readonly route: RouteName;
  readonly about?: About;
  readonly question: Question;
}

export function AskButton({ route, about, question }: Props) {
  const { may } = useFrame();
  if (!may(route, about)) return null;
  const { verb, isGrave = false } = question;
  return (
    <button type="button" class={isGrave ? 'warned' : ''} onClick={() => ask(question)}>
      {verb}
    </button>
  );
}
