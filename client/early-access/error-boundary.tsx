// The error boundary of the hydrated section: shows the error message if a component throws in the browser.
import { Component, type ReactNode } from "react";
import { errorPage } from "../shared/content.ts";
import { headingId } from "./panel.tsx";

export class ErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <div className="page">
        <div className="panel bed" role="alert">
          <div className="panel-content">
            <h2 id={headingId}>{errorPage.heading}</h2>
            <div className="form-card form-message">
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
