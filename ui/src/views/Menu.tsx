import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface MenuProps {
  readonly label: string;
  readonly children: ComponentChildren;
  /** For forms, whose lists of choices reach over its border. */
  readonly isWide?: boolean;
}

/** A box that opens over the page, and is closed by Escape and by a click elsewhere. */
export function Menu({ label, children, isWide = false }: MenuProps): JSX.Element {
  const menu = useRef<HTMLDetailsElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    if (!isOpen) return undefined;
    const close = (): void => {
      if (menu.current) menu.current.open = false;
    };
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      close();
      menu.current?.querySelector('summary')?.focus();
    };
    const onPointerDown = ({ target }: PointerEvent): void => {
      if (target instanceof Node && menu.current?.contains(target) !== true) close();
    };
    addEventListener('keydown', onKeyDown);
    addEventListener('pointerdown', onPointerDown);
    return () => {
      removeEventListener('keydown', onKeyDown);
      removeEventListener('pointerdown', onPointerDown);
    };
  }, [isOpen]);
  return (
    <details
      ref={menu}
      class={isWide ? 'menu wide' : 'menu'}
      onToggle={(event) => {
        setIsOpen(event.currentTarget.open);
      }}
    >
      <summary>{label}</summary>
      {children}
    </details>
  );
}
