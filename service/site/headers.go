package site

import "net/http"

// contentPolicy lets a page load our own style sheet, script and pictures, and nothing else:
// what a submission brings into a page can neither run nor call home. The pictures of an
// exercise's text stand in the page as data.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// headers sets what holds for every answer.
func headers(secure bool, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		set := w.Header().Set
		set("Content-Security-Policy", contentPolicy)
		set("X-Content-Type-Options", "nosniff")
		// The address of an invitation is a secret, so no other site reads where we came
		// from. No-referrer would take the origin off our own forms as well.
		set("Referrer-Policy", "same-origin")
		set("Cross-Origin-Opener-Policy", "same-origin")
		set("Cross-Origin-Resource-Policy", "same-origin")
		set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()")
		set("Cache-Control", "no-store")
		if secure {
			set("Strict-Transport-Security", "max-age=31536000")
		}
		h.ServeHTTP(w, r)
	})
}
