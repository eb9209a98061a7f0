import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { text } from '../messages/messages.js';

/** Shown for whatever takes longer, in milliseconds. */
const DELAY = 1_000;

interface ProgressProps {
  readonly isActive: boolean;
  readonly message?: string;
  cancel(): void;
}

/** Tells after a second that something is still under way, and cancels it. */
export function Progress({ isActive, message, cancel }: ProgressProps): JSX.Element {
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    setIsLate(false);
    if (!isActive) return undefined;
    const timer = setTimeout(() => {
      setIsLate(true);
    }, DELAY);
    return () => {
      clearTimeout(timer);
    };
  }, [isActive]);
  return (
    <div class="progress" role="status">
      {isActive && isLate && (
        <>
          <span class="spinner" aria-hidden="true" />
          <span>{message ?? text('loading')}</span>
          <button type="button" onClick={cancel}>
            {text('cancel')}
          </button>
        </>
      )}
    </div>
  );
}
