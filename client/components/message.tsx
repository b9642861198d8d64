// A full-page message with a link to the landing page.
import { Logo } from "./logo.tsx";

export function Message({ heading, text, link }: { heading: string; text: string; link: string }) {
  return (
    <main className="message">
      <Logo />
      <h1>{heading}</h1>
      <p>{text}</p>
      <a className="button" href="/">
        {link}
      </a>
    </main>
  );
}
