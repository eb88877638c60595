/** Pages of bookings: loaded once one of them is opened. */
export { BookPage } from './book.tsx';
export { BookingPage } from './booking.tsx';
export { BookingsPage } from './bookings.tsx';
