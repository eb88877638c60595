/** Whatever changes something begins with a button: for whoever may, and with a question before it is done. */
import type { About, RouteName } from '../api/me.ts';
import { ask, type Question } from '../frame/asking.tsx';
import { useFrame } from '../frame/context.ts';

interface Props {
  /** Without the right to it there is no button. */
  readonly route: RouteName;
  readonly about?: About;
  readonly question: Question;
  /** As a link, beside others. */
  readonly isQuiet?: boolean;
}

export function AskButton({ route, about, question, isQuiet = false }: Props) {
  const { may } = useFrame();
  if (!may(route, about)) return null;
  const { verb, isGrave = false } = question;
  const look = isQuiet ? 'quiet' : isGrave ? 'warned' : '';
  return (
    <button type="button" class={look} onClick={() => ask(question)}>
      {verb}
    </button>
  );
}
