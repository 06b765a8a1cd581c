import type { ReactNode } from 'react';
import { createPortal } from 'react-dom';
import { useEffect, useState } from 'react';
import { texts } from '../texts/index.js';

interface PageHeaderProps {
  readonly title: ReactNode;
  /** For the tab of the browser, when `title` is no text. */
  readonly name?: string;
  /** The actions of the page. */
  readonly children?: ReactNode;
}

/** What a page puts into the top bar: its title and its actions. */
export function PageHeader({ title, name, children }: PageHeaderProps) {
  const [places, setPlaces] = useState<{ title: Element; actions: Element }>();
  useEffect(() => {
    const titlePlace = document.getElementById('page-title');
    const actions = document.getElementById('page-actions');
    if (titlePlace && actions) setPlaces({ title: titlePlace, actions });
  }, []);
  const text = name ?? (typeof title === 'string' ? title : '');
  useEffect(() => {
    document.title = text === '' ? texts.common.product : `${text} · ${texts.common.product}`;
  }, [text]);
  if (!places) return null;
  return (
    <>
      {createPortal(title, places.title)}
      {createPortal(children, places.actions)}
    </>
  );
}
