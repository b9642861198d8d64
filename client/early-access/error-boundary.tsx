// The error boundary of the hydrated section: shows the error message if a component throws in the browser.
import { Component, type ReactNode } from "react";
import { errorPage } from "../shared/content.ts";

interface Props {
  headingId: string;
  children: ReactNode;
}

export class ErrorBoundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    const { headingId, children } = this.props;
    if (!this.state.failed) return children;
    return (
      <div className="page">
        <div className="panel bed" role="alert">
          <div className="panel-content">
            <h2 id={headingId}>{errorPage.heading}</h2>
            <div className="form-card joined">
              <p>{errorPage.text}</p>
              <a className="button" href="/">
                {errorPage.link}
              </a>
            </div>
          </div>
        </div>
      </div>
    );
  }
}
